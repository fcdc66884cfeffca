"""Where photos stand on a phone, a tablet and a desk."""

from photographs import photograph
from stage import SCHEMES, VIEWS, until

# A wide one, a tall one, a small one, and one that is larger than every screen.
SHAPES = [(1600, 900), (600, 1400), (200, 150), (2048, 2048)]


def test_photos_are_full_bleed_on_a_phone_and_bubbles_elsewhere(stage):
    """On a phone photos have 0 px at the sides, at most 400 px in height and 8 px between them; elsewhere they are
    bubbles of at most 600 px; in both colour schemes."""
    stage.start_daemon()
    link = stage.start_page()
    photos = [photograph(stage.directory, f"{width}x{height}.jpg", width, height) for width, height in SHAPES]
    stage.drop("photos", "family", photos=photos)
    until(lambda: stage.are_sent(len(SHAPES)), "all are published")
    client = stage.client(link)
    for scheme in SCHEMES:
        for view in VIEWS:
            tab = stage.open(view=view, scheme=scheme, cookies=client.cookie)
            tab.goto(stage.url("/conversation", "family"))
            boxes = [picture_box(tab, number) for number in range(len(SHAPES))]
            column = tab.locator("#timeline").bounding_box()
            (phone if view == "phone" else bubbles)(tab, boxes, column, f"{view}, {scheme}: {boxes}")
            background = tab.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
            assert (brightness(background) < 60) == (scheme == "dark"), f"{scheme}: {background}"
            wider = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wider <= 0, f"{view} scrolls sideways by {wider} px"


def test_nothing_jumps_while_photos_load(stage):
    """A photo takes the same place before its bytes are there and after it."""
    stage.start_daemon()
    link = stage.start_page()
    stage.drop("photos", "family", photos=[photograph(stage.directory, "1.jpg", 1600, 900)] * 2)
    until(lambda: stage.are_sent(2), "both are published")
    client = stage.client(link)
    for view in VIEWS:
        tab = stage.open(view=view, cookies=client.cookie)
        tab.route("**/original", lambda route: route.abort())
        tab.goto(stage.url("/conversation", "family"))
        before = [message_box(tab, number) for number in range(2)]
        tab.unroute("**/original")
        tab.reload()
        after = [picture_box(tab, number) and message_box(tab, number) for number in range(2)]
        assert [box["height"] for box in before] == [box["height"] for box in after], f"{view}: {before} {after}"


MOVED = """() => new Promise(done => {
    const moved = []
    new PerformanceObserver(list => moved.push(...list.getEntries().flatMap(entry => entry.sources.map(
        ({node, previousRect: from, currentRect: to}) => `${from.top} to ${to.top}: ${node?.outerHTML ?? node?.textContent}`
    )))).observe({type: 'layout-shift', buffered: true})
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(moved))))
})"""


def test_nothing_moves_while_the_script_begins(stage):
    """On a phone with a slow processor, nothing of a conversation moves from its first paint until its script runs."""
    stage.start_daemon()
    link = stage.start_page()
    stage.drop("photos", "family", photos=[photograph(stage.directory, "1.jpg", 1600, 900)] * 3, text="three")
    until(lambda: stage.are_sent(4), "all are published")
    client = stage.client(link)
    for _ in range(3):
        tab = stage.open(view="phone", cookies=client.cookie)
        tab.context.new_cdp_session(tab).send("Emulation.setCPUThrottlingRate", {"rate": 4})
        stage.compose(tab)
        moved = tab.evaluate(MOVED)
        assert not moved, moved


def message_box(tab, number):
    message = tab.get_by_test_id("message").nth(number)
    message.scroll_into_view_if_needed()
    return message.bounding_box()


def picture_box(tab, number):
    """The box of a photo in the document, with all of it loaded."""
    picture = tab.locator(".timeline img").nth(number)
    picture.scroll_into_view_if_needed()
    picture.evaluate("image => image.decode()")
    return picture.evaluate("""image => {
        const box = image.getBoundingClientRect(), scroll = document.getElementById('timeline').scrollTop
        return {x: box.x, y: box.y + scroll + scrollY, width: box.width, height: box.height}
    }""")


def phone(tab, boxes, column, where):
    for box in boxes:
        assert box["x"] == 0 and box["width"] == 390, where
        assert box["height"] <= 400, where
    for above, below in zip(boxes, boxes[1:]):
        assert abs(below["y"] - above["y"] - above["height"] - 8) < 0.5, where


def bubbles(tab, boxes, column, where):
    for box, (width, height) in zip(boxes, SHAPES):
        assert box["height"] <= 600 and box["width"] <= min(width, 640), where
        assert abs(box["width"] / box["height"] - width / height) < 0.02, where
        # Own photos stand at the right, with room beside them.
        assert box["x"] > column["x"] and box["x"] + box["width"] < column["x"] + column["width"], where
    corner = tab.locator(".timeline img").first.evaluate("""image => {
        for (let e = image; e && e.dataset.test !== 'message'; e = e.parentElement)
            if (parseFloat(getComputedStyle(e).borderTopLeftRadius) > 0) return true
        return false
    }""")
    assert corner, f"no rounded corner: {where}"


def brightness(colour):
    return sum(int(part) for part in colour[colour.index("(") + 1:-1].split(",")[:3]) / 3
