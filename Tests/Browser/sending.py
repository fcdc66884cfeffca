"""Sending from the composer."""

import re

from photographs import photograph
from stage import has_left, press, say, until


def test_the_same_form_twice_is_one_message(stage):
    """A form that is posted twice, by a double click or because the answer was lost, sends one message."""
    stage.start_daemon()
    link = stage.start_page()
    tab = stage.open(link)
    tab.goto(stage.url("/conversation", "family"))
    tab.get_by_test_id("composer.text").fill("by double click")
    tab.get_by_test_id("composer.send").dblclick()
    until(lambda: stage.texts("family") and has_left(tab), "it is published")
    # An answer is lost, and the browser sends the same bytes once more.
    client = stage.client(stage.link())
    lost = []

    def twice(route):
        if route.request.method == "POST":
            lost.append(client.post("/conversation?name=family", route.request.post_data_buffer,
                                    Content_Type=route.request.headers["content-type"]).status)
        route.continue_()

    tab.goto(stage.url("/conversation", "family"))
    tab.get_by_test_id("composer.text").fill("answer lost")
    tab.route("**/conversation?name=family", twice)
    tab.get_by_test_id("composer.send").click()
    # A route is served while the browser is asked something.
    until(lambda: tab.evaluate("1") and lost and has_left(tab), "an answer is lost")
    assert lost == [303], lost
    tab.unroute("**/conversation?name=family")
    until(lambda: "answer lost" in stage.texts("family"), "it is published")
    for _ in range(3):
        assert client.send("family", "three times", key="the-same").status == 303
    until(lambda: "three times" in stage.texts("family"), "it is published")
    client.send("family", "the last")
    until(lambda: "the last" in stage.texts("family"), "the last one is published")
    expected = ["by double click", "answer lost", "three times", "the last"]
    assert stage.texts("family") == expected, stage.texts("family")
    until(lambda: not stage.waiting(), "nothing waits")
    assert not stage.failed()


def test_a_new_conversation_is_called_as_written(stage):
    """The form for a new conversation opens the one of this name, also with blanks and signs that addresses use."""
    tab = stage.log_in()
    names = ["two words", "Anna & Bob = 50 % + #1?", "a/b"]
    for name in names:
        tab.goto(stage.url("/"))
        tab.locator(".welcome").get_by_test_id("new.name").fill(name)
        press(tab, tab.locator(".welcome").get_by_test_id("new.open"))
        assert tab.get_by_test_id("conversation.name").inner_text() == name
        say(tab, "hello")
        until(lambda: has_left(tab), "it has left")
        assert tab.get_by_test_id("conversation.name").inner_text() == name
    until(lambda: stage.sent() == len(names), "all are sent")
    tab.goto(stage.url("/"))
    assert sorted(tab.get_by_test_id("list.row").locator("bdi").all_text_contents()) == sorted(names)


def test_sending_nothing_is_explained(stage):
    """Send without text and photo says so, and nothing is sent; blanks are nothing."""
    tab = stage.log_in(javascript=False)
    for text in ["", " \n "]:
        tab.goto(stage.url("/conversation", "family"))
        tab.get_by_test_id("composer.text").fill(text)
        press(tab, "composer.send")
        assert "Write something or add a photo" in tab.get_by_test_id("composer.problem").inner_text()
    assert nothing_was_sent(stage)


def test_too_many_photos_are_refused(stage):
    """11 photos are refused in one sentence. The text is still there, and nothing was sent."""
    tab = stage.log_in(javascript=False)
    photos = [photograph(stage.directory, f"{number}.jpg", 90, 60) for number in range(11)]
    sentence = refused(stage, tab, photos)
    assert "10 photos" in sentence, sentence


def test_a_photo_beyond_10_mb_is_refused(stage):
    """A photo of 10 MB and one byte is refused in one sentence with its name; exactly 10 MB are sent."""
    tab = stage.log_in(javascript=False)
    photo = photograph(stage.directory, "large.jpg", 900, 600)
    # A reader of JPEG ignores what stands behind its end.
    contents = photo.read_bytes()
    photo.write_bytes(contents + bytes(10_000_001 - len(contents)))
    sentence = refused(stage, tab, [photo])
    assert "large.jpg" in sentence and re.search(r"\b10(\.0)? MB", sentence), sentence
    photo.write_bytes(contents + bytes(10_000_000 - len(contents)))
    tab.get_by_test_id("composer.photos").set_input_files(photo)
    tab.get_by_test_id("composer.send").click()
    until(lambda: stage.texts("family") == ["photo", "kept"], "10 MB are sent")


def test_what_is_no_photo_fails_with_a_sentence(stage):
    """A text file called .jpg and half a JPEG each fail with a sentence, and nothing of their messages is published."""
    tab = stage.log_in(javascript=False)
    whole = photograph(stage.directory, "whole.jpg", 900, 600)
    text, half = stage.directory / "text.jpg", stage.directory / "half.jpg"
    text.write_text("This is no photo.\n" * 100)
    half.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    sentences = []
    for conversation, photo in [("text", text), ("half", half)]:
        tab.goto(stage.url("/conversation", conversation))
        tab.get_by_test_id("composer.text").fill("with it")
        tab.get_by_test_id("composer.photos").set_input_files([whole, photo])
        press(tab, "composer.send")
        failed = until(lambda: [name for name in stage.failed() if (stage.spool / "failed" / name / "error").exists()
                                and (stage.spool / "failed" / name / "to").read_text().strip() == conversation], "it fails")
        tab.reload()
        sentences.append(tab.get_by_test_id("message.error").inner_text())
        assert tab.get_by_test_id("message.retry").count() == 1
        assert len(list((stage.spool / "failed" / failed[0]).glob("photo*"))) == 2, "a photo is lost"
        assert "with it" not in stage.texts(conversation), stage.texts(conversation)
    assert "text.jpg: this file is not an image" in sentences[0], sentences
    assert "half.jpg: this JPEG ends before its picture does" in sentences[1], sentences


def refused(stage, tab, photos):
    """Sends these with a text. Returns the sentence of the refusal."""
    tab.goto(stage.url("/conversation", "family"))
    tab.get_by_test_id("composer.text").fill("kept")
    tab.get_by_test_id("composer.photos").set_input_files(photos)
    press(tab, "composer.send")
    problem = tab.get_by_test_id("composer.problem")
    assert problem.count() == 1, f"the composer is gone: {tab.get_by_test_id('problem.main').inner_text()}"
    assert tab.get_by_test_id("composer.text").input_value() == "kept"
    assert nothing_was_sent(stage)
    return problem.inner_text()


def nothing_was_sent(stage):
    leftovers = [path for name in ("new", "cur", "failed", "tmp") for path in (stage.spool / name).iterdir()
                 if path.name != ".order"]
    return not leftovers and not stage.waiting() and not stage.published("family")
