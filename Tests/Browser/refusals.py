"""Messages and removals that the server refuses."""

import json

from composer import begin, pick
from photographs import photograph
from stage import say, until


def test_a_message_that_is_refused_holds_back_those_after_it(stage):
    """A message is refused while the next one waits and a third is typed. The texts and photos of all are in the composer again, in
    their order, and nothing was sent. Send sends them as one message."""
    tab = begin(stage)
    held = hold(tab, "**/conversation?name=family", "POST")
    for name, text in [("a.jpg", "first"), ("b.jpg", "second")]:
        tab.get_by_test_id("composer.photos").set_input_files(photograph(stage.directory, name, 300, 200 + ord(name[0])))
        say(tab, text)
    tab.get_by_test_id("composer.text").fill("third")
    until(lambda: tab.evaluate("1") and held, "the first one is on its way")
    refuse(held[0])
    until(lambda: tab.get_by_test_id("composer.text").input_value() == "first\nsecond\nthird", "the texts are back")
    assert "No room" in tab.get_by_test_id("composer.problem").inner_text()
    assert tab.get_by_test_id("composer.photo").locator("bdi").all_inner_texts() == ["a.jpg", "b.jpg"]
    assert tab.get_by_test_id("message").count() == 0 and not stage.published("family")
    until(lambda: tab.locator(".thumbs .done").count() == 2, "both are uploaded")
    tab.get_by_test_id("composer.send").click()
    until(lambda: stage.are_sent(3), "all is sent")
    assert stage.texts("family") == ["photo", "photo", "first\nsecond\nthird"]
    heights = [photo["attachment"]["height"] for photo in stage.published("family")[:2]]
    assert heights == [200 + ord("a"), 200 + ord("b")], heights


def test_more_photos_than_a_message_has_are_left_for_a_second_one(stage):
    """Two messages of six photos are refused together. Send sends ten of them with both texts, and leaves the others in the
    composer, from where they are sent next. One that is removed makes room for the next one."""
    tab = begin(stage)
    held = hold(tab, "**/conversation?name=family", "POST")
    heights = iter(range(200, 212))
    for name in "ab":
        photos = [photograph(stage.directory, f"{name}{number}.jpg", 300, next(heights)) for number in range(6)]
        tab.get_by_test_id("composer.photos").set_input_files(photos)
        say(tab, name)
    until(lambda: tab.evaluate("1") and held, "the first one is on its way")
    refuse(held[0])
    thumbs, done = tab.get_by_test_id("composer.photo"), tab.locator(".thumbs .done")
    until(lambda: thumbs.count() == 12, "all are back")
    assert "takes 10 of the photos" in tab.get_by_test_id("composer.problem").inner_text()
    until(lambda: done.count() == 10, "there is room for ten")
    thumbs.filter(has_text="a0.jpg").get_by_test_id("composer.remove").click()
    until(lambda: thumbs.filter(has_text="b4.jpg").and_(done).count() == 1, "there is room for one more")
    tab.get_by_test_id("composer.send").click()
    until(lambda: len(stage.published("family")) == 11, "ten are sent with the texts")
    assert thumbs.locator("bdi").all_inner_texts() == ["b5.jpg"]
    until(lambda: done.count() == 1, "the other one is uploaded")
    assert tab.get_by_test_id("composer.text").input_value() == ""
    tab.get_by_test_id("composer.send").click()
    until(lambda: stage.are_sent(12), "it is sent, too")
    assert stage.texts("family") == ["photo"] * 10 + ["a\nb", "photo"]
    sent = [line["attachment"]["height"] for line in stage.published("family") if "attachment" in line]
    assert sent == list(range(201, 212)), sent


def test_a_photo_that_the_server_does_not_remove_comes_back(stage):
    """The server refuses to remove a photo, after Send was pressed. Nothing is sent; photo and text are in the composer again. The
    photo is removed with the next attempt."""
    tab = begin(stage)
    pick(stage, tab, 2)
    until(lambda: tab.locator(".thumbs .done").count() == 2, "they are uploaded")
    held = hold(tab, "**/draft/*/photo?file=*", "DELETE")
    tab.get_by_test_id("composer.remove").first.click()
    say(tab, "one is left")
    until(lambda: tab.evaluate("1") and held, "the removal is on its way")
    refuse(held[0])
    until(lambda: tab.get_by_test_id("composer.photo").count() == 2, "it comes back")
    assert "No room" in tab.get_by_test_id("composer.problem").inner_text()
    assert tab.get_by_test_id("composer.text").input_value() == "one is left" and not stage.published("family")
    tab.get_by_test_id("composer.photo").filter(has_text="0.jpg").get_by_test_id("composer.remove").click()
    tab.get_by_test_id("composer.send").click()
    until(lambda: stage.are_sent(2), "it is sent")
    assert stage.texts("family") == ["photo", "one is left"]
    assert stage.published("family")[0]["attachment"]["width"] == 301


def hold(tab, address, method):
    """Holds back the first such request. Returns the list that it comes to."""
    held = []

    def one(route):
        if held or route.request.method != method:
            return route.fallback()
        held.append(route)

    tab.route(address, one)
    return held


def refuse(route):
    route.fulfill(status=507, content_type="application/problem+json", body=json.dumps({"detail": "No room is left."}))
