"""The page without JavaScript."""

from photographs import photograph
from stage import press, size, until


def test_photos_and_a_text_are_sent_in_order(stage):
    """Two photos and a text that are sent in one message are published in this order."""
    tab = stage.log_in(view="phone", javascript=False)
    photos = [photograph(stage.directory, "one.jpg", 900, 600), photograph(stage.directory, "two.jpg", 600, 900)]
    tab.locator("details.new summary").click()
    tab.get_by_test_id("new.name").first.fill("family")
    press(tab, tab.get_by_test_id("new.open").first)
    tab.get_by_test_id("composer.photos").set_input_files(photos)
    tab.get_by_test_id("composer.text").fill("Two photos <b>")
    press(tab, "composer.send")
    until(lambda: stage.are_sent(3), "three messages are published")
    assert stage.texts("family") == ["photo", "photo", "Two photos <b>"], stage.texts("family")
    tab.reload()
    messages = tab.get_by_test_id("message")
    assert messages.count() == 3
    sizes = [size(messages.nth(number).locator("img")) for number in range(2)]
    assert sizes == [[900, 600], [600, 900]], sizes
    assert "Sent" in messages.nth(2).get_by_test_id("message.meta").inner_text()
    assert tab.get_by_test_id("composer.text").input_value() == ""


def test_a_photo_is_revealed_and_hidden_again(stage):
    """A photo of somebody else is fetched, revealed and hidden again, and the preference is asked for and kept."""
    server = stage.start_receiving()
    tab = stage.open(stage.start_page(), view="phone", javascript=False)
    stage.receive(server, "first", "family", photograph(stage.directory, "one.jpg", 900, 600))
    stage.wait_for_state("first", "offered")
    tab.goto(stage.url("/conversation", "family"))
    press(tab, "message.fetch")
    stage.wait_for_state("first", "downloaded")
    tab.reload()
    press(tab, "message.reveal")
    press(tab, "ask.keep")
    press(tab, "message.photo")
    assert size(tab.get_by_test_id("photo.picture")) == [900, 600]
    press(tab, "photo.hide")
    tab.get_by_test_id("photo.reveal").wait_for()
    assert stage.received()["first"]["hidden"]
    press(tab, "photo.reveal")
    assert size(tab.get_by_test_id("photo.picture")) == [900, 600]
    assert tab.get_by_test_id("ask.form").count() == 0, "it was answered"
    assert "auto-reveal: off" in stage.run("prefs", "family")
    press(tab, "photo.close")
    press(tab, "conversation.settings")
    tab.get_by_test_id("settings.reveal-on").check()
    press(tab, "settings.save")
    until(lambda: "auto-reveal: on" in stage.run("prefs", "family"), "it is kept")
    tab.reload()
    assert tab.get_by_test_id("settings.reveal-on").is_checked()
    stage.receive(server, "second", "family", photograph(stage.directory, "two.jpg", 600, 900))
    stage.wait_for_state("second", "downloaded")
    tab.goto(stage.url("/conversation", "family"))
    assert tab.get_by_test_id("message.photo").count() == 2


def test_a_failed_request_is_retried(stage):
    """A request that failed is sent again by its button."""
    stage.program_as_network()
    stage.refuse("text")
    tab = stage.log_in(view="phone", javascript=False)
    tab.goto(stage.url("/conversation", "family"))
    tab.get_by_test_id("composer.text").fill("again")
    press(tab, "composer.send")
    until(lambda: stage.failed(), "it fails")
    tab.reload()
    stage.refuse()
    press(tab, "message.retry")
    until(lambda: stage.delivered() == ["text"], "it is delivered")
    until(lambda: not stage.waiting(), "it is done")
    tab.reload()
    assert "Sent" in tab.get_by_test_id("message.meta").inner_text()
    assert tab.get_by_test_id("message.retry").count() == 0


def test_a_conversation_is_held_and_released(stage):
    """Nothing is published in a held conversation, and the page says so; release publishes it."""
    tab = stage.log_in(view="phone", javascript=False)
    tab.goto(stage.url("/conversation", "family"))
    press(tab, "conversation.settings")
    press(tab, "settings.hold")
    tab.get_by_test_id("settings.held").wait_for()
    press(tab, "settings.back")
    tab.get_by_test_id("conversation.held").wait_for()
    tab.get_by_test_id("composer.text").fill("later")
    press(tab, "composer.send")
    until(lambda: stage.accepted(), "it is accepted")
    tab.reload()
    assert "Held" in tab.get_by_test_id("message.waiting").inner_text()
    assert stage.published("family") == []
    press(tab, "conversation.settings")
    press(tab, "settings.release")
    tab.get_by_test_id("settings.hold").wait_for()
    until(lambda: stage.texts("family") == ["later"], "it is published")
