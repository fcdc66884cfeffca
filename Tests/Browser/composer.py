"""The composer with JavaScript: photos are uploaded when they are picked."""

import base64
import subprocess
import time
from urllib.parse import urlsplit

from playwright.sync_api import Error

from drafts import objects
from line import Line
from photographs import LIBRARY, photograph
from stage import has_left, say, until


def test_photos_are_uploaded_when_they_are_picked(stage):
    """Three photos (JPEG, HEIC and a PNG of 9 MB) have thumbnails with name and size, and are in the store before Send. One
    is removed within a second, from tray, draft and store; then all is sent in its order without a reload."""
    tab = begin(stage)
    photos = [photograph(stage.directory, "one.jpg", 900, 600), stage.directory / "two.heic", large_png(stage)]
    subprocess.run(["heif-enc", "-q", "50", str(photos[0]), "-o", str(photos[1])], check=True, capture_output=True)
    tab.get_by_test_id("composer.photos").set_input_files(photos)
    thumbs = tab.get_by_test_id("composer.photo")
    assert thumbs.count() == len(photos)
    words = thumbs.locator(".what").all_inner_texts()
    assert "one.jpg" in words[0] and "kB" in words[0] and "MB" in words[-1], words
    until(lambda: objects(stage) == len(photos), "all are in the store before Send")
    draft = next(path for path in (stage.spool / "draft").iterdir())
    assert len(list(draft.glob("photo*"))) == len(photos)
    until(lambda: tab.locator(".thumbs img[src^='/photo/']").count() == len(photos), "thumbnails are those of the darkroom")
    assert not stage.published("family")
    thumbs.nth(1).get_by_test_id("composer.remove").click()
    assert thumbs.count() == len(photos) - 1
    begun = time.monotonic()
    until(lambda: len(list(draft.glob("photo*"))) == len(photos) - 1, "it is gone from the draft")
    print(f"gone from the draft {1000 * (time.monotonic() - begun):.0f} ms after the click")
    until(lambda: objects(stage) == len(photos) - 1, "it is gone from the store")
    tab.get_by_test_id("composer.text").fill("All of them")
    stage.picture(tab, "composer-desk")
    address = tab.url
    # Before the click ends: an answer of the server may show them as one request for a moment.
    shown = tab.get_by_test_id("composer.send").evaluate(
        "send => (send.click(), document.querySelectorAll('[data-test=message]').length)")
    assert shown == len(photos), "they do not stand there at once"
    assert thumbs.count() == 0 and tab.get_by_test_id("composer.text").input_value() == ""
    until(lambda: stage.are_sent(len(photos)), "it is sent")
    until(lambda: "Sent" in tab.get_by_test_id("message.meta").last.inner_text(), "the page says so by itself")
    assert stage.texts("family") == ["photo"] * (len(photos) - 1) + ["All of them"]
    until(lambda: has_left(tab) and tab.get_by_test_id("message").count() == len(photos), "each stands there once")
    assert tab.url == address


def test_a_draft_is_there_after_a_crash_and_in_another_browser(stage):
    """After a crash of the page, and in a second browser, the composer has the photos and the text. A sent message leaves the
    other composer by itself."""
    tab = begin(stage)
    pick(stage, tab, 2)
    tab.get_by_test_id("composer.text").fill("Begun here")
    draft = until(lambda: next((stage.spool / "draft").glob("*/text"), None), "the text is kept").parent
    until(lambda: len(list(draft.glob("photo*"))) == 2, "the photos are kept")
    crash(tab)
    tab = tab.context.new_page()
    tab.goto(stage.url("/conversation", "family"))
    other = stage.open(stage.link(), view="phone")
    other.goto(stage.url("/conversation", "family"))
    for one in (tab, other):
        until(lambda: one.get_by_test_id("composer.photo").count() == 2, "the photos are there")
        assert one.get_by_test_id("composer.text").input_value() == "Begun here"
    stage.picture(other, "composer-phone")
    other.get_by_test_id("composer.send").click()
    until(lambda: stage.are_sent(3), "it is sent")
    until(lambda: tab.get_by_test_id("composer.photo").count() == 0, "the first window's tray is empty")
    until(lambda: tab.get_by_test_id("message").count() == 3, "and it shows the message")


def test_a_photo_goes_with_send_where_somebody_else_composes(stage):
    """A session that may not see somebody else's draft keeps its photo in the tray, and sends it with the text. The draft stays."""
    tab = begin(stage)
    pick(stage, tab, 2)
    until(lambda: len(list((stage.spool / "draft").glob("*/photo*"))) == 2, "the photos are kept")
    other = stage.open(stage.link("--may", "send"))
    stage.compose(other)
    with other.expect_response(lambda answer: answer.status == 409):
        pick(stage, other, 1)
    say(other, "Mine")
    until(lambda: stage.texts("family") == ["photo", "Mine"], "it is sent")
    assert len(list((stage.spool / "draft").glob("*/photo*"))) == 2


def test_a_double_click_is_one_message(stage):
    """A double click on Send, and a Send whose answer is lost, are one message each."""
    tab = begin(stage)
    pick(stage, tab, 1)
    tab.get_by_test_id("composer.text").fill("once")
    tab.get_by_test_id("composer.send").dblclick()
    until(lambda: stage.are_sent(2), "it is sent")
    assert not tab.get_by_test_id("composer.problem").is_visible()
    client, lost = stage.client(stage.link()), []

    def lose(route):
        if route.request.method == "POST" and not lost:
            lost.append(client.post("/conversation?name=family", route.request.post_data_buffer,
                                    Content_Type=route.request.headers["content-type"]).status)
            return route.abort()
        return route.fallback()

    tab.route("**/conversation?name=family", lose)
    say(tab, "answer lost")
    # A route is served while the browser is asked something.
    until(lambda: tab.evaluate("1") and lost, "an answer is lost")
    tab.get_by_test_id("page.cut").wait_for()
    tab.get_by_test_id("page.cut").wait_for(state="detached")
    until(lambda: stage.are_sent(3), "it is sent")
    until(lambda: tab.get_by_test_id("message").count() == 3, "the page shows one")
    assert stage.texts("family") == ["photo", "once", "answer lost"]
    assert not stage.failed()


def test_photos_are_dropped_pasted_and_taken(stage):
    """Photos that are dropped from the desk, pasted, or taken with the camera of a phone are in the tray and are sent."""
    tab = begin(stage, view="phone")
    photo = photograph(stage.directory, "dropped.jpg", 300, 200).read_bytes()
    give = """([type, name, bytes]) => {
        const data = new DataTransfer()
        data.items.add(new File([Uint8Array.from(atob(bytes), c => c.charCodeAt(0))], name, {type: 'image/jpeg'}))
        const event = type === 'paste' ? new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true})
            : new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true})
        document.querySelector('#timeline').dispatchEvent(event)
        return event.defaultPrevented
    }"""
    for type, name in [("dragover", "x.jpg"), ("drop", "dropped.jpg"), ("paste", "pasted.jpg")]:
        assert tab.evaluate(give, [type, name, base64.b64encode(photo).decode()]), type
    tab.get_by_test_id("composer.camera").set_input_files(photograph(stage.directory, "taken.jpg", 200, 300))
    names = tab.get_by_test_id("composer.photo").locator("bdi").all_inner_texts()
    assert names == ["dropped.jpg", "pasted.jpg", "taken.jpg"], names
    tab.get_by_test_id("composer.send").click()
    until(lambda: stage.are_sent(3), "they are sent")


def test_photos_change_places_by_keyboard_and_by_drag(stage):
    """Arrow keys and a drag move a photo of the tray; it is sent in the order of the tray."""
    tab = begin(stage)
    shapes = {"a.jpg": (300, 300), "b.jpg": (300, 400), "c.jpg": (300, 500)}
    tab.get_by_test_id("composer.photos").set_input_files(
        [photograph(stage.directory, name, *shape) for name, shape in shapes.items()])
    names = lambda: tab.get_by_test_id("composer.photo").locator("bdi").all_inner_texts()
    tab.get_by_test_id("composer.photo").first.focus()
    tab.keyboard.press("ArrowRight")
    assert names() == ["b.jpg", "a.jpg", "c.jpg"]
    assert tab.evaluate("document.activeElement.querySelector('bdi').textContent") == "a.jpg"
    boxes = [tab.get_by_test_id("composer.photo").nth(number).bounding_box() for number in (2, 0)]
    tab.mouse.move(boxes[0]["x"] + 40, boxes[0]["y"] + 40)
    tab.mouse.down()
    tab.mouse.move(boxes[1]["x"] + 40, boxes[1]["y"] + 40, steps=8)
    tab.mouse.up()
    assert names() == ["c.jpg", "b.jpg", "a.jpg"]
    tab.get_by_test_id("composer.send").click()
    until(lambda: stage.are_sent(3), "they are sent")
    until(lambda: has_left(tab) and tab.locator("[data-test=message] img[height]").count() == 3, "they are shown")
    heights = tab.locator("[data-test=message] img").evaluate_all("all => all.map(image => image.getAttribute('height'))")
    assert heights == ["500", "400", "300"], heights


def test_a_photo_that_was_removed_is_not_sent(stage):
    """A photo changes its place and is removed before the browser has the answer, and Send follows at once. It is not sent."""
    tab = begin(stage)
    tab.get_by_test_id("composer.photos").set_input_files(
        [photograph(stage.directory, f"{letter}.jpg", 300, 200) for letter in "abc"])
    until(lambda: tab.locator(".thumbs .done").count() == 3, "they are uploaded")
    held, client = [], stage.client(stage.link())

    def hold(route):
        if held:
            return route.fallback()
        answer = client.post(urlsplit(route.request.url).path, route.request.post_data)
        held.append(lambda: route.fulfill(status=answer.status, headers=dict(answer.headers), body=answer.body))

    tab.route("**/draft/*/order", hold)
    tab.get_by_test_id("composer.photo").first.focus()
    tab.keyboard.press("ArrowRight")
    until(lambda: tab.evaluate("1") and held, "the order is on its way")
    tab.keyboard.press("Delete")
    say(tab, "two are left")
    held[0]()
    until(lambda: stage.are_sent(3), "it is sent")
    assert stage.texts("family") == ["photo", "photo", "two are left"]
    until(lambda: has_left(tab) and not list((stage.spool / "draft").iterdir()), "nothing is left")


def test_a_finger_pans_the_tray_and_moves_what_it_rests_on(stage):
    """On a phone a finger that moves over the tray pans it. A finger that rests on a photo first moves this photo."""
    tab = begin(stage, view="phone")
    tab.get_by_test_id("composer.photos").set_input_files(
        [photograph(stage.directory, f"{letter}.jpg", 300, 200) for letter in "abcdefgh"])
    names = lambda: "".join(name[0] for name in tab.get_by_test_id("composer.photo").locator("bdi").all_inner_texts())
    tray = tab.get_by_test_id("composer.tray")
    until(lambda: tab.locator(".thumbs .done").count() == 8, "they are uploaded")
    box = tray.bounding_box()
    y = box["y"] + 60
    devtools = tab.context.new_cdp_session(tab)

    def touch(kind, *x):
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": place, "y": y} for place in x]})

    touch("touchStart", 300)
    for x in range(290, 60, -10):
        touch("touchMove", x)
    touch("touchEnd")
    until(lambda: tray.evaluate("tray => tray.scrollLeft") > 100, "it is panned")
    assert names() == "abcdefgh", names()
    # The tray may still move by itself.
    until(lambda: tray.evaluate("""async tray => {
        tray.scrollLeft = 0;
        for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
        return tray.scrollLeft;
    }""") == 0, "it rests at its begin")
    touch("touchStart", 60)
    tab.locator(".thumbs .moving").wait_for()
    for x in range(70, 300, 10):
        touch("touchMove", x)
    touch("touchEnd")
    until(lambda: tab.locator(".thumbs .moving").count() == 0, "it is let go")
    assert names() == "bcadefgh", names()
    assert tray.evaluate("tray => tray.scrollLeft") == 0


def test_a_photo_that_cannot_be_sent_has_its_sentence(stage):
    """One photo of 10 MB and a byte, a text file called .jpg and half a JPEG each have a sentence; nothing is sent, and nothing
    else is lost."""
    tab = begin(stage)
    large, text = stage.directory / "large.jpg", stage.directory / "text.jpg"
    large.write_bytes(bytes(10_000_001))
    text.write_text("This is no photo.\n" * 100)
    half, whole = stage.directory / "half.jpg", photograph(stage.directory, "whole.jpg", 900, 600)
    half.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    tab.get_by_test_id("composer.photos").set_input_files([large])
    assert "larger than 10" in tab.get_by_test_id("composer.error").inner_text()
    tab.get_by_test_id("composer.send").click()
    assert "large.jpg" in tab.get_by_test_id("composer.problem").inner_text()
    tab.get_by_test_id("composer.remove").click()
    tab.get_by_test_id("composer.photos").set_input_files([text, whole, half])
    errors = tab.get_by_test_id("composer.error")
    for number, sentence in [(0, "not an image"), (2, "ends before its picture does")]:
        until(lambda: sentence in errors.nth(number).inner_text(), "the darkroom's sentence is there")
    assert errors.nth(1).inner_text() == ""
    for _ in range(3):
        tab.get_by_test_id("composer.remove").first.click()
    until(lambda: not list((stage.spool / "draft").iterdir()), "the draft is gone")
    assert not stage.published("family")


def test_an_eleventh_photo_has_its_sentence(stage):
    """An eleventh photo has a sentence, and ten are in the tray."""
    tab = begin(stage)
    tab.get_by_test_id("composer.photos").set_input_files(
        [photograph(stage.directory, f"{number}.jpg", 90, 60) for number in range(11)])
    assert "more than 10 photos" in tab.get_by_test_id("composer.problem").inner_text()
    assert tab.get_by_test_id("composer.photo").count() == 10


def test_a_cut_line_is_waited_for(stage):
    """While the line is cut, a banner says so and photos stay in the tray. When it is back, the upload goes on by itself, and
    Send sends one message."""
    tab = begin(stage)
    tab.context.set_offline(True)
    pick(stage, tab, 1)
    tab.get_by_test_id("page.cut").wait_for()
    say(tab, "late")
    assert tab.get_by_test_id("message").count() == 2
    tab.context.set_offline(False)
    until(lambda: stage.are_sent(2), "it is sent")
    tab.get_by_test_id("page.cut").wait_for(state="detached")
    until(lambda: stage.sent() == 1, "its receipt is written")
    assert stage.texts("family") == ["photo", "late"]


def test_another_photo_is_picked_while_one_is_sent(stage):
    """A message whose photo is still uploaded is on its way after Send, and the next message is composed meanwhile."""
    tab = begin(stage)
    line = Line(tab, 1_500_000)
    tab.get_by_test_id("composer.photos").set_input_files([large_png(stage)])
    say(tab, "first")
    assert "Sending" in tab.get_by_test_id("message.state").first.inner_text()
    pick(stage, tab, 1)
    tab.get_by_test_id("composer.text").fill("second")
    assert not stage.published("family")
    tab.get_by_test_id("composer.send").click()
    line.open()
    until(lambda: stage.are_sent(4), "both are sent")
    assert stage.texts("family") == ["photo", "first", "photo", "second"]
    until(lambda: tab.get_by_test_id("conversation.pending").locator("li").count() == 0, "nothing is pending")


def test_a_message_is_cancelled_before_it_has_left(stage):
    """Cancel of a message whose photo is still uploaded takes it away at once; nothing is sent, and the draft is gone."""
    tab = begin(stage)
    tab.context.set_offline(True)
    pick(stage, tab, 1)
    tab.get_by_test_id("composer.send").click()
    tab.get_by_test_id("message.cancel").click()
    assert tab.get_by_test_id("message").count() == 0
    assert "Nothing was sent" in tab.get_by_test_id("page.said").inner_text()
    tab.context.set_offline(False)
    tab.get_by_test_id("page.cut").wait_for(state="detached")
    say(tab, "the next")
    until(lambda: stage.are_sent(1), "the next one is sent")
    assert stage.texts("family") == ["the next"] and not list((stage.spool / "draft").iterdir())


def begin(stage, view="desk"):
    tab = stage.log_in(view=view)
    stage.compose(tab)
    return tab


def crash(tab):
    """Kills the tab's process."""
    with tab.expect_event("crash"):
        try:
            tab.goto("chrome://crash", timeout=5_000)
        except Error:
            pass


def pick(stage, tab, count):
    tab.get_by_test_id("composer.photos").set_input_files(
        [photograph(stage.directory, f"{number}.jpg", 300 + number, 200) for number in range(count)])


def large_png(stage):
    """A PNG of about 9 MB."""
    from PIL import Image
    path = stage.directory / "large.png"
    with Image.open(LIBRARY / "Dragonfly_by_Bolly.jpg") as image:
        image.convert("RGB").resize((2300, 1500)).save(path, compress_level=0)
    assert path.stat().st_size < 10_500_000, path.stat().st_size
    if path.stat().st_size > 10_000_000:
        with Image.open(LIBRARY / "Dragonfly_by_Bolly.jpg") as image:
            image.convert("RGB").resize((2000, 1480)).save(path, compress_level=0)
    return path
