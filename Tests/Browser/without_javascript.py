"""The page without JavaScript."""

from photographs import photograph
from stage import until


def test_photos_and_a_text_are_sent_in_order(stage):
    """Two photos and a text that are sent in one message are published in this order."""
    stage.start_daemon()
    tab = stage.open(stage.start_page(), view="phone", javascript=False)
    photos = [photograph(stage.directory, "one.jpg", 900, 600), photograph(stage.directory, "two.jpg", 600, 900)]
    tab.locator("details.new summary").click()
    tab.get_by_test_id("new.name").first.fill("family")
    tab.get_by_test_id("new.open").first.click()
    tab.get_by_test_id("composer.photos").set_input_files(photos)
    tab.get_by_test_id("composer.text").fill("Two photos <b>")
    tab.get_by_test_id("composer.send").click()
    tab.wait_for_url("**/conversation?name=family")
    until(lambda: len(stage.published("family")) == 3, "three messages are published")
    assert stage.texts("family") == ["photo", "photo", "Two photos <b>"], stage.texts("family")
    tab.reload()
    messages = tab.get_by_test_id("message")
    assert messages.count() == 3
    sizes = [messages.nth(number).locator("img").evaluate("image => [image.naturalWidth, image.naturalHeight]")
             for number in range(2)]
    assert sizes == [[900, 600], [600, 900]], sizes
    assert "Sent" in messages.nth(2).get_by_test_id("message.meta").inner_text()
    assert tab.get_by_test_id("composer.text").input_value() == ""
