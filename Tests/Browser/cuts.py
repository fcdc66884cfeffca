"""Composing while the line is cut, while a proxy answers for the page, and while files change."""

from urllib.parse import urlsplit

from composer import begin, pick
from photographs import photograph
from stage import has_left, say, until


def test_what_is_removed_and_moved_during_a_cut_stays_so(stage):
    """While the line is cut, a photo is removed, the others change places, and Send is pressed. When the line is back, the
    message has the others alone, in their new order."""
    tab = begin(stage)
    shapes = {"a.jpg": (300, 300), "b.jpg": (300, 400), "c.jpg": (300, 500)}
    tab.get_by_test_id("composer.photos").set_input_files(
        [photograph(stage.directory, name, *shape) for name, shape in shapes.items()])
    until(lambda: tab.locator(".thumbs .done").count() == 3, "they are uploaded")
    tab.context.set_offline(True)
    tab.get_by_test_id("composer.remove").first.click()
    tab.get_by_test_id("composer.photo").first.focus()
    tab.keyboard.press("ArrowRight")
    tab.get_by_test_id("composer.text").fill("two are left")
    tab.get_by_test_id("page.cut").wait_for()
    tab.get_by_test_id("composer.send").click()
    tab.context.set_offline(False)
    until(lambda: stage.are_sent(3), "it is sent")
    assert stage.texts("family") == ["photo", "photo", "two are left"]
    assert [photo["attachment"]["height"] for photo in stage.published("family")[:2]] == [500, 400]
    until(lambda: has_left(tab) and not list((stage.spool / "draft").iterdir()), "nothing is left")


def test_a_removed_photo_whose_answer_was_lost_is_not_sent(stage):
    """The server has a photo, but the line is cut before its answer. The photo is removed, and Send follows at once. The message
    has the other photo alone."""
    tab = begin(stage)
    client, lost = stage.client(stage.link()), []
    photos = [photograph(stage.directory, name, 300, height) for name, height in [("a.jpg", 300), ("b.jpg", 400)]]

    def lose(route):
        if "file=a.jpg" not in route.request.url:
            return route.fallback()
        if not lost:
            path = urlsplit(route.request.url)
            lost.append(client.ask("PUT", f"{path.path}?{path.query}", photos[0].read_bytes()).status)
        return route.abort()

    tab.route("**/draft/new/photo?*", lose)
    tab.get_by_test_id("composer.photos").set_input_files(photos)
    tab.get_by_test_id("composer.text").fill("one is left")
    # A route is served while the browser is asked something.
    until(lambda: tab.evaluate("1") and len(list((stage.spool / "draft").glob("*/photo*"))) == 2, "the server has both")
    tab.evaluate("""() => {
        for (const name of ['remove', 'send']) document.querySelector(`[data-test="composer.${name}"]`).click()
    }""")
    until(lambda: stage.are_sent(2), "it is sent")
    assert stage.texts("family") == ["photo", "one is left"] and lost == [201], lost
    assert stage.published("family")[0]["attachment"]["height"] == 400


def test_a_message_that_is_cancelled_during_a_cut_leaves_no_photo(stage):
    """A message with uploaded photos is sent during a cut and cancelled. When the line is back, the next message is sent without
    its photos."""
    tab = begin(stage)
    pick(stage, tab, 2)
    until(lambda: tab.locator(".thumbs .done").count() == 2, "they are uploaded")
    tab.context.set_offline(True)
    tab.get_by_test_id("composer.photo").first.focus()
    tab.keyboard.press("ArrowRight")
    tab.get_by_test_id("page.cut").wait_for()
    tab.get_by_test_id("composer.send").click()
    tab.get_by_test_id("message.cancel").first.click()
    say(tab, "the next")
    tab.context.set_offline(False)
    until(lambda: "the next" in stage.texts("family"), "the next one is sent")
    assert stage.texts("family") == ["the next"]


def test_an_answer_of_a_proxy_is_a_cut_line(stage):
    """A proxy answers 502 to an upload, and 504 to a Send that the page has carried out. Both are tried again, and it is one
    message."""
    tab = begin(stage)
    client, lost = stage.client(stage.link()), {}

    def lose(name, status, task=lambda route: None):
        def answer(route):
            if name in lost or route.request.method not in ("POST", "PUT"):
                return route.fallback()
            lost[name] = task(route)
            return route.fulfill(status=status, content_type="text/html", body="<h1>The gateway has no answer</h1>")
        return answer

    def carry_out(route):
        return client.post("/conversation?name=family", route.request.post_data_buffer,
                           Content_Type=route.request.headers["content-type"]).status

    tab.route("**/draft/new/photo?*", lose("upload", 502))
    tab.route("**/conversation?name=family", lose("send", 504, carry_out))
    pick(stage, tab, 1)
    until(lambda: tab.locator(".thumbs .done").count() == 1, "it is uploaded")
    say(tab, "once")
    until(lambda: tab.evaluate("1") and "send" in lost, "its answer is lost")
    until(lambda: has_left(tab), "it has left")
    assert tab.get_by_test_id("composer.text").input_value() == ""
    assert not tab.get_by_test_id("composer.problem").is_visible()
    until(lambda: stage.are_sent(2), "it is sent")
    assert stage.texts("family") == ["photo", "once"] and lost["send"] == 303, lost
    tab.get_by_test_id("page.cut").wait_for(state="detached")


def test_a_message_that_was_sent_does_not_come_back(stage):
    """The page cannot render the answer to Send. The message is sent; it does not come back into the composer, and the next one
    is sent, too."""
    tab = begin(stage)
    tab.evaluate("() => { Document.prototype.importNode = () => { throw new Error('broken by a test') } }")
    for number, text in enumerate(["first", "second"]):
        say(tab, text)
        until(lambda: stage.are_sent(number + 1), "it is sent")
        until(lambda: has_left(tab), "it has left")
        assert tab.get_by_test_id("composer.text").input_value() == ""
        assert not tab.get_by_test_id("composer.problem").is_visible()
    assert stage.texts("family") == ["first", "second"]


def test_a_file_that_cannot_be_read_any_more_has_its_sentence(stage):
    """A file is deleted before it is uploaded, and another one before it goes with the form. Each has its sentence, and the rest
    is sent."""
    tab = begin(stage)
    tab.context.set_offline(True)
    pick(stage, tab, 1)
    tab.get_by_test_id("page.cut").wait_for()
    (stage.directory / "0.jpg").unlink()
    tab.context.set_offline(False)
    until(lambda: "cannot be read any more" in tab.get_by_test_id("composer.error").inner_text(), "it has its sentence")
    tab.get_by_test_id("composer.remove").click()
    pick(stage, tab, 1)
    until(lambda: tab.locator(".thumbs .done").count() == 1, "the next one is uploaded")
    other = stage.open(stage.link("--may", "send"))
    stage.compose(other)
    with other.expect_response(lambda answer: answer.status == 409):
        pick(stage, other, 1)
    (stage.directory / "0.jpg").unlink()
    say(other, "without it")
    until(lambda: "cannot be read any more" in other.get_by_test_id("composer.problem").inner_text(), "it has its sentence")
    other.get_by_test_id("composer.remove").click()
    other.get_by_test_id("composer.send").click()
    until(lambda: stage.texts("family") == ["without it"], "the rest is sent")
