"""Long conversations and long lists, page by page."""

import datetime
import sqlite3

from stage import enter, press, until


def test_a_long_conversation_is_read_page_by_page(stage):
    """130 messages are on three pages, by Older and Newer, each message once and in order; the newest page comes first."""
    stage.configure("texts: keep\n")
    tab = stage.log_in(javascript=False)
    for number in range(130):
        stage.drop(f"r{number:03}", "family", text=f"text {number}")
    until(lambda: stage.are_sent(130), "all are sent")
    tab.goto(stage.url("/conversation", "family"))
    assert tab.get_by_test_id("message.text").last.inner_text() == stage.texts("family")[-1]
    assert tab.get_by_test_id("conversation.newer").count() == 0
    pages = [texts(tab)]
    while tab.get_by_test_id("conversation.older").count():
        press(tab, "conversation.older")
        pages.append(texts(tab))
    assert [len(page) for page in pages] == [60, 60, 10], [len(page) for page in pages]
    read = [text for page in reversed(pages) for text in page]
    assert read == stage.texts("family"), read
    back = []
    while tab.get_by_test_id("conversation.newer").count():
        press(tab, "conversation.newer")
        back.append(texts(tab))
    assert [text for page in back for text in page][-60:] == pages[0], back
    press(tab, "conversation.older")
    press(tab, "conversation.newest")
    assert texts(tab) == pages[0]


def test_a_date_is_gone_to(stage):
    """Go to a date shows the messages since then, with and without JavaScript; where nothing came since then, the newest ones."""
    stage.configure("texts: keep\n")
    stage.start_daemon()
    link = stage.start_page()
    for number in range(130):
        stage.drop(f"r{number:03}", "family", text=f"text {number}")
    until(lambda: stage.are_sent(130), "all are sent")
    stage.stop_daemon()
    with sqlite3.connect(stage.spool / "state/ledger.sqlite") as ledger:
        ledger.execute("UPDATE requests SET accepted_at = accepted_at - 10 * 86400000 WHERE request < 'r100'")
        first, = ledger.execute("SELECT accepted_at FROM requests WHERE request = 'r000'").fetchone()
    ledger.close()
    begin = datetime.datetime.fromtimestamp(first / 1000).date()
    tab = stage.open(link, javascript=False)

    def go(days):
        tab.goto(stage.url("/conversation", "family"))
        tab.get_by_test_id("conversation.date").click()
        tab.get_by_test_id("date.day").fill((begin + datetime.timedelta(days)).isoformat())
        press(tab, "date.go")
        return [text.removeprefix("text ") for text in texts(tab)]

    assert go(0) == [str(number) for number in range(60)]
    press(tab, "conversation.newer")
    assert texts(tab)[0] == "text 60"
    assert go(2) == [str(number) for number in range(100, 130)]
    press(tab, "conversation.older")
    assert texts(tab)[-1] == "text 99"
    assert go(30) == [str(number) for number in range(70, 130)]
    tab = stage.open(stage.link())
    go(2)
    where = "() => document.querySelector('#timeline').getBoundingClientRect().top"
    box = tab.get_by_text("text 100", exact=True).bounding_box()
    assert 0 <= box["y"] - tab.evaluate(where) < 200, box
    # Older messages that come late overlap with the newest ones, which came meanwhile.
    tab, held = stage.open(stage.link()), []
    tab.route("**/conversation?*before=*", lambda route: held.append(route))
    go(2)
    until(lambda: tab.evaluate("1") and held and texts(tab)[0] == "text 70", "the newest messages are there")
    held[0].fallback()
    until(lambda: texts(tab)[0] == "text 40", "older messages are there")
    assert texts(tab) == [f"text {number}" for number in range(40, 130)]
    box = tab.get_by_text("text 100", exact=True).bounding_box()
    assert 0 <= box["y"] - tab.evaluate(where) < 200, box


def test_a_long_list_is_read_page_by_page_and_filtered(stage):
    """70 conversations are on two pages, the latest first, each once; the filter finds those with a word in their name."""
    tab = stage.log_in(javascript=False)
    names = [f"{('garden', 'house')[number % 2]} {number}" for number in range(70)]
    for number, name in enumerate(names):
        stage.drop(f"r{number:03}", name, text="hello")
    until(lambda: stage.sent() == 70, "all are sent")
    tab.goto(stage.url("/"))
    first = tab.get_by_test_id("list.row").locator("bdi").all_text_contents()
    press(tab, "list.older")
    second = tab.get_by_test_id("list.row").locator("bdi").all_text_contents()
    assert len(first) == 60 and sorted(first + second) == sorted(names)
    tab.goto(stage.url("/"))
    tab.get_by_test_id("list.filter").fill("GARDEN 1")
    enter(tab)
    found = tab.get_by_test_id("list.row").locator("bdi").all_text_contents()
    assert sorted(found) == sorted(name for name in names if name.startswith("garden 1")), found
    tab.get_by_test_id("list.filter").fill("nothing of this name")
    enter(tab)
    press(tab, "list.all")
    assert tab.url == stage.url("/") and tab.get_by_test_id("list.row").count() == 60


def texts(tab):
    return tab.get_by_test_id("message.text").all_inner_texts()


def test_a_message_in_the_cluster_says_so(stage):
    """A message that another host of the cluster is to publish has its own state."""
    stage.start_daemon()
    stage.run("hold", "family")
    stage.drop("one", "family", text="hello")
    until(stage.waiting, "it is accepted")
    stage.stop_daemon()
    with sqlite3.connect(stage.spool / "state/ledger.sqlite") as ledger:
        ledger.execute("UPDATE messages SET state = 'relayed'")
    ledger.close()
    tab = stage.open(stage.start_page())
    tab.goto(stage.url("/conversation", "family"))
    assert tab.get_by_test_id("message.state").inner_text() == "In the cluster"
