"""Pages that live: what others do is there without a reload."""

import time

from photographs import photograph
from stage import say, until


def test_windows_see_each_other(stage):
    """Two windows of one browser and a phone show a message that another one sends, and the list does, by themselves."""
    tab = stage.log_in()
    tab.goto(stage.url("/conversation", "family"))
    second = tab.context.new_page()
    second.goto(stage.url("/"))
    phone = stage.open(stage.link(), view="phone")
    phone.goto(stage.url("/conversation", "family"))
    for number, sender in enumerate([tab, phone]):
        sender.locator("form.composer.live").wait_for()
        say(sender, f"number {number}")
        begun = time.monotonic()
        for one in (tab, phone):
            until(lambda: one.get_by_test_id("message").count() == number + 1, "it is shown")
        print(f"the others show it after {1000 * (time.monotonic() - begun):.0f} ms")
        until(lambda: "Sent" in second.get_by_test_id("list.rows").inner_text(), "the list shows it")
    stage.drop("by-a-script", "garden", text="hello")
    until(lambda: second.get_by_test_id("list.row").count() == 2, "the list has the other conversation")
    until(lambda: tab.locator("nav .row").count() == 2, "so has the list beside the conversation")


def test_a_name_with_an_unseen_character_lives(stage):
    """A conversation whose name has an unseen character shows news by itself. The page shows the character as a code."""
    tab = stage.log_in()
    name = "a\u200bb"
    stage.compose(tab, name)
    assert "200b" in tab.get_by_test_id("conversation.name").inner_text()
    stage.drop("by-a-script", name, text="hello")
    until(lambda: tab.get_by_test_id("message").count() == 1, "it is shown")


def test_twelve_windows_do_not_block_one_another(stage):
    """Twelve windows of a browser are open and visible. Each loads, and each shows a message that is sent then."""
    stage.start_daemon()
    tabs = [stage.open(stage.start_page())]
    tabs += [tabs[0].context.new_page() for _ in range(11)]
    for number, tab in enumerate(tabs):
        tab.goto(stage.url("/conversation", f"room-{number % 4}"))
    for room in range(4):
        stage.drop(f"r{room}", f"room-{room}", text="for all")
    for tab in tabs:
        until(lambda: tab.get_by_test_id("message").count() == 1, f"{tab.url} shows it")
    tabs[0].close()
    stage.drop("again", "room-1", text="the reader of the stream is closed")
    until(lambda: tabs[5].get_by_test_id("message").count() == 2, "another window reads the stream")


def test_a_daemon_that_ends_and_comes_back_is_told(stage):
    """A banner says that the daemon does not run. It goes when the daemon runs again, also after a short absence."""
    tab = stage.log_in()
    tab.goto(stage.url("/conversation", "family"))
    for _ in range(2):
        stage.stop_daemon()
        tab.get_by_test_id("page.daemon").wait_for()
        stage.start_daemon()
        tab.get_by_test_id("page.daemon").wait_for(state="detached")
    stage.daemon.kill()
    stage.daemon.wait()
    stage.start_daemon()
    stage.drop("after", "family", text="after it")
    until(lambda: tab.get_by_test_id("message").count() == 1, "the message is shown")
    until(lambda: tab.get_by_test_id("page.daemon").count() == 0, "the banner is gone")


def test_a_banner_of_a_moment_is_taken_back(stage):
    """A page that was loaded while the daemon was down for a moment has a banner, and loses it, although the stream of events
    never noticed."""
    tab = stage.log_in()
    stage.compose(tab)
    stage.daemon.kill()
    stage.daemon.wait()
    other = tab.context.new_page()
    other.goto(stage.url("/"))
    assert other.get_by_test_id("page.daemon").count() == 1
    stage.start_daemon()
    for one in (tab, other):
        until(lambda: one.get_by_test_id("page.daemon").count() == 0, "the banner is gone")


def test_older_messages_are_shown_as_they_are(stage):
    """Somebody who looks at messages beyond the newest 60 sees them sent, each once and in order; so does who comes to a place
    among them."""
    stage.configure("texts: keep\n")
    stage.start_daemon()
    stage.run("hold", "family")
    for number in range(130):
        stage.drop(f"r{number:03}", "family", text=f"text {number}")
    until(lambda: len(stage.accepted()) == 130, "they wait", 60)
    tab = stage.open(stage.start_page())
    stage.compose(tab)
    until(lambda: tab.evaluate("""() => {
        document.querySelector('#timeline').scrollTop = -1e6
        return document.querySelectorAll('.timeline > .m').length === 130
    }"""), "all pages are loaded")
    stage.run("release", "family")
    until(lambda: stage.are_sent(130), "all are sent", 60)
    until(lambda: tab.locator(".timeline .busy").count() == 0, "the page says so of all of them")
    assert tab.get_by_test_id("message.text").all_inner_texts() == [f"text {number}" for number in range(130)]
    middle = tab.get_by_test_id("message").nth(64).get_attribute("id")
    tab.goto(stage.url("/conversation", "family") + f"&at={middle}#{middle}")
    tab.locator("form.composer.live").wait_for()
    for way, end in [(-1e6, "older"), (1e6, "newer")]:
        until(lambda: tab.evaluate("""([way, end]) => {
            document.querySelector('#timeline').scrollBy({top: way, behavior: 'instant'})
            return document.querySelector(`[data-test="conversation.${end}"]`).parentElement.hidden
        }""", [way, end]), "all pages in this direction are loaded")
    assert tab.get_by_test_id("message.text").all_inner_texts() == [f"text {number}" for number in range(130)]


def test_a_page_that_starts_again_is_found(stage):
    """When the page's program ends, a banner says so; when it is there again, the page goes on and shows what is new."""
    tab = stage.log_in()
    stage.compose(tab)
    port = stage.address.rsplit(":", 1)[1]
    stage.web.terminate()
    stage.web.wait()
    tab.get_by_test_id("page.cut").wait_for()
    stage.drop("meanwhile", "family", text="meanwhile")
    until(lambda: stage.are_sent(1), "it is sent")
    stage.start_page("--port", port)
    tab.get_by_test_id("page.cut").wait_for(state="detached")
    until(lambda: tab.get_by_test_id("message").count() == 1, "it is shown")


def test_a_failed_message_says_so_by_itself(stage):
    """A message that fails shows its sentence without a reload. Try again and Delete stay on the page."""
    stage.program_as_network()
    stage.refuse("text")
    tab = stage.log_in()
    tab.goto(stage.url("/conversation", "family"))
    tab.evaluate("window.isTheSame = true")
    for text in ["one", "two"]:
        say(tab, text)
        tab.get_by_test_id("message.retry").wait_for()
        if text == "one":
            tab.get_by_test_id("message.delete").click()
            tab.get_by_test_id("message.delete").wait_for(state="detached")
    stage.refuse()
    tab.get_by_test_id("message.retry").click()
    until(lambda: stage.delivered() == ["text"], "it is sent")
    until(lambda: "Sent" in tab.get_by_test_id("message.meta").last.inner_text(), "the page says so")
    assert tab.evaluate("window.isTheSame")


def test_events_hold_ids_and_numbers_of_the_own_inbox_only(stage):
    """The stream tells ids and numbers, nothing of another inbox, and nothing to a session that may not see."""
    stage.start_daemon()
    stage.start_page()
    anna = stage.client(stage.link("--inbox", "anna"))
    assert stage.client(stage.link("--may", "send")).get("/events?view=list").status == 403
    stream = anna.connection()
    stream.request("GET", "/events?view=list&view=conversation:shared",
                   headers={"Host": stage.address, "Cookie": anna.cookie, "Sec-Fetch-Site": "same-origin"})
    answer = stream.getresponse()
    assert answer.status == 200 and answer.headers["Content-Type"] == "text/event-stream"
    assert read(answer, "queue") == "0 0"
    photo = photograph(stage.directory, "1.jpg", 600, 400)
    stage.drop("secret", "shared", text="secret words", photos=[photo], sender="berta")
    until(lambda: stage.are_sent(2, "shared"), "it is sent")
    stage.drop("hers", "shared", text="own words", photos=[photo], sender="anna")
    until(lambda: stage.are_sent(4, "shared"), "it is sent")
    hers = {line["message"]: line["inbox"] for line in stage.published("shared")}
    ids, lines = set(), []
    while not {message for message, inbox in hers.items() if inbox == "anna"} <= ids:
        line = answer.readline().decode().strip()
        lines.append(line)
        if line.startswith("data: "):
            ids |= set(line.split()[2:])
    text = "\n".join(lines)
    assert "words" not in text and "shared" not in text and not any(
        message in text for message, inbox in hers.items() if inbox == "berta"), text
    stream.close()


def read(answer, event):
    """The data of the next event of this kind."""
    while True:
        line = answer.readline().decode().strip()
        if line == f"event: {event}":
            return answer.readline().decode().strip().removeprefix("data: ")
