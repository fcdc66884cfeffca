"""The page of one photo, without JavaScript."""

from photographs import photograph
from stage import press, size, until


def test_a_photo_opens_turns_and_closes(stage):
    """A photo opens by its link; previous and next lead through the conversation; Close returns to its place."""
    tab = sent(stage, [(900, 600), (600, 900), (500, 500)])
    press(tab, tab.get_by_test_id("message.photo").nth(1))
    assert size(tab.get_by_test_id("photo.picture")) == [600, 900]
    middle = tab.url
    press(tab, "photo.previous")
    assert size(tab.get_by_test_id("photo.picture")) == [900, 600]
    assert tab.get_by_test_id("photo.previous").count() == 0
    press(tab, "photo.next")
    assert tab.url == middle
    press(tab, "photo.next")
    assert size(tab.get_by_test_id("photo.picture")) == [500, 500]
    assert tab.get_by_test_id("photo.next").count() == 0
    photo = tab.url.rsplit("/", 1)[1]
    press(tab, "photo.close")
    assert tab.locator(f"[id='{photo}'] img").is_visible()
    assert tab.evaluate("decodeURIComponent(location.hash)") == f"#{photo}"


def test_an_unknown_photo_is_a_sentence(stage):
    """A photo that does not exist is answered with 404 and a sentence, on its page and for its pictures."""
    tab = stage.log_in(javascript=False)
    assert tab.goto(stage.url("/photo/nothing")).status == 404
    assert tab.get_by_test_id("problem.sentence").inner_text()
    assert tab.goto(stage.url("/photo/nothing/original")).status == 404
    assert tab.goto(stage.url("/no/such/page")).status == 404


def sent(stage, shapes):
    """Own photos of these sizes were sent to the family. Returns its page."""
    tab = stage.log_in(javascript=False)
    photos = [photograph(stage.directory, f"{number}.jpg", *shape) for number, shape in enumerate(shapes)]
    stage.drop("photos", "family", photos=photos)
    until(lambda: stage.are_sent(len(shapes)), "all are published")
    tab.goto(stage.url("/conversation", "family"))
    return tab
