"""Long conversations with JavaScript: a window of the timeline."""

import os
import sqlite3

from photographs import photograph
from stage import until

MOST = 240
# BROWSER_TEST_PHOTOS=9900 measures a conversation of so many photos, in multiples of 300.
PHOTOS = int(os.environ.get("BROWSER_TEST_PHOTOS", "300"))


def test_a_long_conversation_is_scrolled_to_its_beginning_and_back(stage):
    """400 messages are scrolled through, from the newest to the oldest and back. Never more than 240 are in the document, each is
    met once and in order, and what is seen does not jump."""
    stage.configure("texts: keep\n")
    tab = stage.log_in(view="phone")
    for number in range(400):
        stage.drop(f"r{number:03}", "family", text=f"text {number:03}")
    until(lambda: stage.are_sent(400), "all are sent", 60)
    tab.goto(stage.url("/conversation", "family"))
    met = read(tab)
    for end, step in [("text 000", -700), ("text 399", 700)]:
        for _ in range(400):
            before, met = met, read(tab)
            assert len(met) <= MOST, len(met)
            assert met == sorted(met) and len(set(met)) == len(met), met
            if end in met and is_seen(tab, end):
                break
            tab.evaluate("by => document.querySelector('#timeline').scrollBy({top: by, behavior: 'instant'})", step)
            until(lambda: is_near(tab, end) or edges_are_far(tab), "the next page is loaded")
        assert end in met and is_seen(tab, end), (met[0], met[-1])


SCROLL = """async ([step, frames]) => {
    const scroll = document.querySelector('#timeline'), times = [], long = []
    new PerformanceObserver(list => long.push(...list.getEntries().map(task => task.duration))).observe({entryTypes: ['longtask']})
    let last = await new Promise(requestAnimationFrame), most = 0
    const link = `[data-test="conversation.${step < 0 ? 'older' : 'newer'}"]`
    const isAtTheEnd = () => document.querySelector(link).parentElement.hidden
    for (let still = 0; times.length < frames && (still < 60 || !isAtTheEnd());) {
        const before = scroll.scrollTop
        scroll.scrollBy({top: step, behavior: 'instant'})
        const now = await new Promise(requestAnimationFrame)
        times.push(now - last)
        last = now
        still = scroll.scrollTop === before ? still + 1 : 0
        if (times.length % 20 === 0) most = Math.max(most, document.querySelectorAll('*').length)
    }
    times.sort((a, b) => a - b)
    return {frames: times.length, p95: times[Math.floor(times.length * 0.95)], long: Math.max(0, ...long), elements: most}
}"""


def test_photos_are_scrolled_from_the_newest_to_the_oldest_and_back(stage):
    """A conversation with many photos is scrolled to its oldest one and back, with at most 1,500 elements in the document and
    40 MB of the script's heap. Frames and long tasks are printed."""
    tab = stage.log_in(view="phone")
    fill(stage)
    stage.compose(tab)
    newest = tab.get_by_test_id("message").last.get_attribute("id")
    print("4 s of 60 px", tab.evaluate(SCROLL, [-60, 240]))
    way = tab.evaluate(SCROLL, [-600, 100_000])
    print("to the oldest", way)
    until(lambda: not tab.get_by_test_id("conversation.older").is_visible(), "the oldest page is loaded")
    assert tab.get_by_test_id("message").first.get_attribute("id") == stage.published("family")[0]["message"]
    devtools = tab.context.new_cdp_session(tab)
    devtools.send("Performance.enable")
    devtools.send("HeapProfiler.collectGarbage")
    figures = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
    print("heap", figures["JSHeapUsedSize"])
    back = tab.evaluate(SCROLL, [600, 100_000])
    until(lambda: tab.get_by_test_id("message").last.get_attribute("id") == newest, "it is back at the newest")
    assert max(way["elements"], back["elements"]) <= 1500 and figures["JSHeapUsedSize"] < 40e6, (way, back, figures)


# The sent photos once more, as the ledger has them; the files of a copy are those of the first one.
COPIES = """
CREATE TEMP TABLE numbers AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT i FROM n WHERE i <= ?1;
INSERT INTO requests (request, dropped_as, inode, born, conversation_id, inbox, digest, state, bytes, accepted_at, finished_at, filed)
  SELECT request || '-' || i, dropped_as || '-' || i, 1000000000 + 1000 * i + id, born, conversation_id, inbox, digest, state, bytes,
    accepted_at, finished_at, filed FROM numbers, requests ORDER BY i, id;
INSERT INTO messages (message, request_id, conversation_id, position, kind, file, bytes, digest, state, attempts, sent_at, remote)
  SELECT message || '-' || i, n.id, m.conversation_id, position, kind, file, m.bytes, m.digest, m.state, attempts, sent_at, remote
  FROM numbers, messages m JOIN requests r ON r.id = m.request_id JOIN requests n ON n.request = r.request || '-' || i ORDER BY i, m.id;
INSERT INTO photos (message, inbox, conversation_id, file, format, original_bytes, original_width, original_height, bytes, width,
    height, digest, path, thumbnail_bytes, created_at, uploaded_at, cached_bytes, cached_thumbnail_bytes)
  SELECT message || '-' || i, inbox, conversation_id, file, format, original_bytes, original_width, original_height, bytes, width,
    height, digest, path || '-' || i, thumbnail_bytes, created_at, uploaded_at, cached_bytes, cached_thumbnail_bytes
  FROM numbers, photos
"""


def fill(stage):
    """So many photos, ten in each request; all sent. Only the first 300 of them are really sent."""
    photos = [photograph(stage.directory, f"{number}.jpg", 320 + 8 * number, 240) for number in range(10)]
    for number in range(30):
        stage.drop(f"r{number:05}", "family", photos=photos)
    until(lambda: stage.sent() == 30, "all are sent", 120)
    copies = PHOTOS // 300 - 1
    if copies < 1:
        return
    stage.stop_daemon()
    with sqlite3.connect(stage.spool / "state" / "ledger.sqlite") as ledger:
        for statement in COPIES.split(";"):
            ledger.execute(statement.replace("?1", str(copies)))
    ledger.close()
    for directory in list((stage.spool / "photos/default/family").iterdir()):
        for number in range(1, copies + 1):
            (copy := directory.with_name(f"{directory.name}-{number}")).mkdir()
            for file in directory.iterdir():
                os.link(file, copy / file.name)
    stage.start_daemon()


def read(tab):
    return tab.get_by_test_id("message.text").all_text_contents()


def is_near(tab, text):
    return text in read(tab)


def is_seen(tab, text):
    box = tab.get_by_text(text, exact=True).bounding_box()
    return box is not None and 0 <= box["y"] < 844


def edges_are_far(tab):
    """Whether there is more to scroll to on both sides, or nothing more to load there."""
    return tab.evaluate("""() => {
        const scroll = document.querySelector('#timeline').getBoundingClientRect()
        const far = (name, side) => {
            const link = document.querySelector(`[data-test="conversation.${name}"]`)
            if (!link || link.closest('p').hidden) return true
            const box = link.getBoundingClientRect()
            return side < 0 ? box.bottom < scroll.top - 700 : box.top > scroll.bottom + 700
        }
        return far('older', -1) && far('newer', 1)
    }""")
