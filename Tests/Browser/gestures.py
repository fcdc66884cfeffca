"""The viewer with JavaScript: a dialog over the timeline."""

from photographs import photograph
from stage import until


def test_a_photo_is_zoomed_dragged_turned_and_closed(stage):
    """Click opens the viewer. Wheel, keys and double click zoom, a drag moves, arrows turn, Escape closes, and the focus
    returns to the photo. Save gives the bytes of the original."""
    tab = sent(stage, "desk")
    tab.get_by_test_id("message.photo").nth(1).click()
    viewer, stage_ = tab.locator("dialog.viewer"), tab.get_by_test_id("photo.stage")
    tab.locator("dialog.viewer[open]").wait_for()
    until(lambda: tab.get_by_test_id("photo.picture").get_attribute("src").endswith("/original"), "the whole photo is shown")
    stage.picture(tab, "viewer-desk")
    scale = lambda: float(stage_.get_attribute("data-scale"))
    middle = (720, 450)
    tab.mouse.move(*middle)
    tab.mouse.wheel(0, -400)
    until(lambda: scale() > 1.5, "the wheel zooms in")
    before = tab.get_by_test_id("photo.picture").bounding_box()
    tab.mouse.down()
    tab.mouse.move(middle[0] + 100, middle[1], steps=4)
    tab.mouse.up()
    assert tab.get_by_test_id("photo.picture").bounding_box()["x"] > before["x"] + 50, "a drag does not move it"
    tab.mouse.wheel(0, 4000)
    until(lambda: scale() == 1, "it snaps back")
    tab.mouse.dblclick(*middle)
    until(lambda: scale() == 2.5, "a double click zooms")
    tab.keyboard.press("0")
    assert scale() == 1
    tab.keyboard.press("+")
    assert scale() == 1.5
    tab.keyboard.press("-")
    assert scale() == 1
    alt = lambda: tab.get_by_test_id("photo.save").get_attribute("href")
    second = alt()
    tab.keyboard.press("ArrowLeft")
    first = alt()
    assert first != second and tab.get_by_test_id("photo.previous").is_hidden()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowRight")
    assert alt() not in (first, second) and tab.get_by_test_id("photo.next").is_hidden()
    with tab.expect_download() as download:
        tab.get_by_test_id("photo.save").click()
    originals = [path.read_bytes() for path in (stage.spool / "photos").rglob("original.jpg")]
    assert download.value.path().read_bytes() in originals
    tab.keyboard.press("Escape")
    until(lambda: viewer.get_attribute("open") is None, "it closes")
    # The browser gives the focus to the photo that was opened first, and tells the end of the dialog a moment later.
    until(lambda: tab.evaluate("document.activeElement.getAttribute('href') + '/original?save'") == alt(), "the focus returns")


def test_a_photo_turns_after_its_message_was_rendered_again(stage):
    """While a photo is open, its message is rendered again. An arrow key still leads to the next photo, and the focus returns to
    the photo that was seen last."""
    tab = sent(stage, "desk")
    photos = tab.get_by_test_id("message.photo").evaluate_all("all => all.map(link => link.getAttribute('href'))")
    again = """() => {
        for (const message of document.querySelectorAll('[data-test="message"]')) message.replaceWith(message.cloneNode(true))
    }"""
    tab.get_by_test_id("message.photo").nth(1).click()
    tab.locator("dialog.viewer[open]").wait_for()
    tab.evaluate(again)
    tab.keyboard.press("ArrowRight")
    assert tab.get_by_test_id("photo.save").get_attribute("href") == photos[2] + "/original?save"
    tab.evaluate(again)
    tab.keyboard.press("Escape")
    tab.locator("dialog.viewer[open]").wait_for(state="detached")
    until(lambda: tab.evaluate("document.activeElement.getAttribute('href')") == photos[2], "the focus returns")


def test_two_fingers_zoom_and_a_swipe_turns(stage):
    """On a phone two fingers zoom a photo, and it snaps back below its size. A swipe turns to the next one."""
    tab = sent(stage, "phone")
    tab.get_by_test_id("message.photo").first.tap()
    tab.locator("dialog.viewer[open]").wait_for()
    scale = lambda: float(tab.get_by_test_id("photo.stage").get_attribute("data-scale"))
    devtools = tab.context.new_cdp_session(tab)

    def touch(kind, *points):
        devtools.send("Input.dispatchTouchEvent", {
            "type": kind, "touchPoints": [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]})

    def pinch(begin, end):
        touch("touchStart", (195 - begin, 400), (195 + begin, 400))
        for step in range(1, 6):
            way = begin + (end - begin) * step / 5
            touch("touchMove", (195 - way, 400), (195 + way, 400))
        touch("touchEnd")

    pinch(30, 90)
    until(lambda: scale() > 2, "fingers zoom in")
    stage.picture(tab, "viewer-phone-zoomed")
    pinch(120, 10)
    until(lambda: scale() == 1, "it snaps back")
    before = tab.get_by_test_id("photo.save").get_attribute("href")
    touch("touchStart", (300, 400))
    for x in (250, 180, 100):
        touch("touchMove", (x, 400))
    touch("touchEnd")
    until(lambda: tab.get_by_test_id("photo.save").get_attribute("href") != before, "a swipe turns")
    stage.picture(tab, "viewer-phone")
    tab.get_by_test_id("photo.close").click()
    until(lambda: tab.locator("dialog[open]").count() == 0, "it closes")


def test_shortcuts_are_listed_and_stay_out_of_the_way(stage):
    """`?` lists the shortcuts, `c` goes to the text. While somebody types, they are letters."""
    tab = stage.log_in()
    stage.compose(tab)
    tab.keyboard.press("?")
    assert "choose photos" in tab.get_by_test_id("help.main").inner_text()
    stage.picture(tab, "shortcuts")
    tab.keyboard.press("Escape")
    tab.get_by_test_id("help.main").wait_for(state="hidden")
    tab.keyboard.press("c")
    tab.keyboard.type("c? /")
    assert tab.get_by_test_id("composer.text").input_value() == "c? /"
    assert tab.locator("dialog[open]").count() == 0
    tab.keyboard.press("Control+Enter")
    until(lambda: stage.texts("family") == ["c? /"], "it is sent")


def sent(stage, view):
    """Three own photos were sent to the family. Returns its page."""
    tab = stage.log_in(view=view)
    photos = [photograph(stage.directory, f"{number}.jpg", *shape)
              for number, shape in enumerate([(900, 600), (600, 900), (500, 500)])]
    stage.drop("photos", "family", photos=photos)
    until(lambda: stage.are_sent(3), "all are published")
    stage.compose(tab)
    return tab
