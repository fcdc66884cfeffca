"""Messages and removals that the server refuses."""

import json

from composer import begin, pick
from photographs import photograph
from stage import until


def test_a_photo_that_the_server_does_not_remove_comes_back(stage):
    """The server refuses to remove a photo, after Send was pressed. Nothing is sent; photo and text are in the composer again. The
    photo is removed with the next attempt."""
    tab = begin(stage)
    pick(stage, tab, 2)
    until(lambda: tab.locator(".thumbs .done").count() == 2, "they are uploaded")
    held = hold(tab, "**/draft/*/photo?file=*", "DELETE")
    tab.get_by_test_id("composer.remove").first.click()
    tab.get_by_test_id("composer.text").fill("one is left")
    tab.get_by_test_id("composer.send").click()
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
