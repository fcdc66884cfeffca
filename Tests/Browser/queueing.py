"""The queue, one request, and what may be done with many of them at once."""

import contextlib
import http.server
import json
import sqlite3
import threading
from urllib.parse import quote

from photographs import photograph
from programs import free_port
from scene import Scene
from stage import press, until
from uploading import store


def test_a_network_that_is_down_is_named_and_probed(stage):
    """A network that does not answer stands in the queue with its error, since when, and the next probe. Once it answers,
    everything is sent and the page says so."""
    port = free_port()
    secret = stage.directory / "secret"
    secret.write_text("whsec_" + "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n")
    secret.chmod(0o600)
    stage.configure(f"network: {{type: webhook, url: 'http://127.0.0.1:{port}/', allowPrivate: true, "
                    f"secretFile: {stage.directory}/secret}}\ndelivery: {{probe: 1s}}\n")
    tab = stage.log_in()
    for name in ["family", "garden"]:
        stage.drop(f"to-{name}", name, text="hello")
    client = stage.client(stage.link())
    until(lambda: "Left alone" in client.get("/queue").text, "the network is left alone")
    tab.goto(stage.url("/queue"))
    says_why(tab, "webhook")
    stage.picture(tab, "queue-down")
    got = []

    class Receiver(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            got.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Receiver)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    until(lambda: not stage.waiting(), "everything is sent")
    server.shutdown()
    server.server_close()
    assert len(got) == 2
    until(lambda: "Used" in words(tab, "webhook"), "the page says so")
    until(lambda: tab.get_by_test_id("queue.none").count() == 1, "nothing is listed")


def words(tab, destination):
    return tab.get_by_test_id("queue.destination").filter(has_text=destination).inner_text()


def says_why(tab, destination):
    """A probe that runs may be on the page for a moment."""
    until(lambda: all(part in words(tab, destination) for part in ["Left alone, for", "probe", "wait"]),
          "the page says since when, the next probe, and what waits")


def test_a_store_that_is_down_is_named_and_probed(stage):
    """A store that does not answer stands in the queue with the next probe, and its photos wait. Once it answers, the queue
    empties by itself."""
    server = store(stage, "delivery: {probe: 1s}\n")
    port = server.server.server_port
    server.stop()
    stage.start_daemon()
    client = stage.client(stage.start_page())
    photo = photograph(stage.directory, "1.jpg", 300, 200)
    for name in ["family", "garden"]:
        stage.drop(f"to-{name}", name, photos=[photo])
    until(lambda: "Left alone" in client.get("/queue").text, "the store is left alone")
    tab = stage.open(cookies=client.cookie)
    tab.goto(stage.url("/queue"))
    says_why(tab, "s3")
    stage.picture(tab, "queue-store-down")
    server = stage.object_server(port)
    until(lambda: not stage.waiting(), "everything is sent")
    assert len(server.objects) == 2 and stage.texts("family") == stage.texts("garden") == ["photo"]
    until(lambda: tab.get_by_test_id("queue.none").count() == 1, "the page says so by itself")


def refused(stage, count, prefix="refused", conversation="family"):
    """So many failed requests."""
    for number in range(count):
        stage.drop(f"{prefix}-{number:02}", conversation, text=f"text {number}")
    until(lambda: len([name for name in stage.failed() if name.startswith(prefix)]) == count and not stage.waiting(),
          "all are refused")


def test_many_are_retried_exactly_or_not_at_all(stage):
    """Retry of a filter sends exactly as many requests again as the button says. If their number has changed, it is
    refused and nothing is done."""
    stage.program_as_network()
    stage.refuse("text")
    tab = stage.log_in()
    client = stage.client(stage.link())
    refused(stage, 12)
    refused(stage, 3, "other", "garden")
    tab.goto(stage.url("/queue"))
    tab.get_by_test_id("queue.words").fill("is:failed to:family")
    press(tab, "queue.apply")
    assert "12 match" in tab.get_by_test_id("queue.matching").inner_text()
    assert tab.get_by_test_id("queue.row").count() == 12
    assert tab.get_by_test_id("queue.state").input_value() == "failed"
    stage.picture(tab, "queue-filtered")
    # Else the page would show the new number by itself.
    tab.get_by_test_id("board.pause").click()
    refused(stage, 1, "later")
    press(tab, "queue.retry")
    assert "not 12 requests any more but 13" in tab.get_by_test_id("problem.sentence").inner_text()
    assert len(stage.failed()) == 16
    stage.refuse()
    press(tab, "problem.back")
    press(tab, "queue.retry")
    assert "13 requests are sent again" in tab.get_by_test_id("page.notice").inner_text()
    until(lambda: len(stage.delivered()) == 13 and not stage.waiting(), "they are sent")
    assert stage.failed() == [f"other-{number:02}" for number in range(3)]
    assert client.post("/queue/retry?state=failed", "count=0").status == 400
    assert client.post("/queue/cancel?state=waiting", "count=3").status == 409


def test_many_are_cancelled_exactly_or_not_at_all(stage):
    """Cancel of a filter deletes exactly the requests that wait, after it was asked for twice."""
    stage.configure("")
    tab = stage.log_in()
    stage.run("hold", "garden")
    stage.run("hold", "family")
    for number in range(5):
        stage.drop(f"g-{number}", "garden", text="later")
    stage.drop("kept", "family", text="later")
    until(lambda: len(stage.accepted()) == 6, "they wait")
    tab.goto(stage.url("/queue") + "?state=held&to=garden")
    tab.get_by_test_id("queue.cancel").click()
    press(tab, "queue.cancel-now")
    assert "5 requests are being cancelled" in tab.get_by_test_id("page.notice").inner_text()
    until(lambda: [line["request"] for line in stage.waiting()] == ["kept"], "they are cancelled")


def test_ticked_requests_are_retried_or_cancelled(stage):
    """Retry sends the failed requests that are ticked, and Cancel deletes the waiting ones; the others stay. The ticks are kept
    while the page shows news."""
    stage.program_as_network()
    stage.refuse("text")
    tab = stage.log_in()
    refused(stage, 3)
    stage.run("hold", "garden")
    for number in range(3):
        stage.drop(f"held-{number}", "garden", text="later")
    until(lambda: len(stage.accepted()) == 3, "they wait")
    stage.refuse()
    tab.goto(stage.url("/queue"))
    tick = lambda name: tab.get_by_test_id("queue.row").filter(has_text=name).get_by_test_id("queue.tick")
    assert not tab.get_by_test_id("queue.ticked").is_visible()
    for name in ["refused-00", "refused-02", "held-1"]:
        tick(name).check()
    stage.drop("held-9", "garden", text="later")
    until(lambda: tab.get_by_test_id("queue.row").count() == 7, "the page shows the new one by itself")
    assert tick("refused-02").is_checked() and tick("held-1").is_checked() and not tick("refused-01").is_checked()
    stage.picture(tab, "queue-ticked")
    press(tab, "queue.retry-ticked")
    assert "2 requests are sent again" in tab.get_by_test_id("page.notice").inner_text()
    until(lambda: stage.failed() == ["refused-01"], "the third one stays")
    until(lambda: len(stage.delivered()) == 2, "they are sent")
    tick("held-1").check()
    tab.get_by_test_id("queue.cancel-ticked").click()
    press(tab, "queue.cancel-ticked-now")
    until(lambda: {line["request"] for line in stage.waiting()} == {"held-0", "held-2", "held-9"}, "it is cancelled")
    client = stage.client(stage.link())
    assert client.post("/queue/ticked/retry", "").status == 422
    assert client.post("/queue/ticked/delete", "request=held-0").status == 404
    stage.run("release", "garden")
    until(lambda: not stage.waiting(), "the others are sent")
    assert len(stage.delivered()) == 5


def test_the_queue_shows_news_until_it_is_paused(stage):
    """The page of the queue shows what comes by itself. Paused, it stays as it is; going on, it shows what it missed."""
    tab = stage.log_in()
    stage.run("hold", "garden")
    tab.goto(stage.url("/queue"))
    tab.get_by_test_id("board.pause").wait_for()
    stage.drop("one", "garden", text="later")
    until(lambda: tab.get_by_test_id("queue.row").count() == 1, "it is shown")
    assert "1\N{NO-BREAK SPACE}wait" in tab.get_by_test_id("queue.summary").inner_text()
    assert tab.get_by_test_id("foot.queue").locator("b").inner_text() == "1"
    tab.get_by_test_id("board.pause").click()
    other = tab.context.new_page()
    other.goto(stage.url("/queue"))
    stage.drop("two", "garden", text="later")
    until(lambda: other.get_by_test_id("queue.row").count() == 2, "another window shows it")
    assert tab.get_by_test_id("queue.row").count() == 1
    tab.get_by_test_id("board.pause").click()
    until(lambda: tab.get_by_test_id("queue.row").count() == 2, "it goes on")


def test_page_and_command_agree(stage):
    """Hold, release, flush, cancel and retry, by the page and by the command: a page that stays open, the command and the ledger
    have the same requests in the same states."""
    # Without Flush, what is put off stays so.
    scene = Scene(stage, "delivery: {backoff: {first: 1h, longest: 1h}}\n")
    watch, tab = (stage.open(cookies=scene.client.cookie) for _ in range(2))
    watch.goto(stage.url("/queue"))
    done = set()
    sent = lambda text: text in [line.get("text") for line in stage.lines()]

    def agrees(states, what, *words):
        """All of them come to these states of requests. The rows of the page that stays open have these words."""
        until(lambda: states.items() <= ledger(stage).items(), f"{what}: the ledger says so")
        listed = sorted(name for name, state in states.items() if state in ("queued", "failed"))
        until(lambda: sorted({line["request"] for line in stage.waiting()} | set(stage.failed())) == listed,
              f"{what}: the command lists them")
        until(lambda: sorted(watch.get_by_test_id("queue.request").all_inner_texts()) == listed, f"{what}: the page lists them")
        until(lambda: all(word in watch.get_by_test_id("queue.rows").inner_text() for word in words), f"{what}: the page says why")
        for name in states.keys() - set(listed) - done:
            done.add(name)
            tab.goto(stage.url("/request/" + name))
            assert tab.get_by_test_id("request.state").inner_text() == states[name], f"{what}: {name}"
            assert json.loads(stage.run("show", "--json", name))["state"] == states[name], f"{what}: {name}"

    agrees({"held": "queued", "refused": "failed"}, "at first", "Held by hand", "The account may not write there")
    tab.goto(stage.url("/queue"))
    press(tab, "queue.release")
    agrees({"held": "failed", "refused": "failed"}, "released by the page")
    stage.refuse()
    stage.run("retry", "held")
    agrees({"held": "sent", "refused": "failed"}, "tried again by the command")
    tab.goto(stage.url("/request/refused"))
    press(tab, "request.retry")
    agrees({"held": "sent", "refused": "sent"}, "tried again by the page")
    assert sent("Later") and sent("This one is refused.")
    stage.run("hold", "garden")
    tab.goto(stage.url("/conversation/settings", "family"))
    press(tab, "settings.hold")
    for name, to in [("one", "garden"), ("two", "family"), ("three", "family")]:
        stage.drop(name, to, text=name)
    agrees({"one": "queued", "two": "queued", "three": "queued"}, "held", "Held by hand")
    tab.goto(stage.url("/request/one"))
    press(tab, "request.cancel")
    agrees({"one": "cancelled", "two": "queued", "three": "queued"}, "cancelled by the page")
    stage.run("cancel", "two")
    agrees({"one": "cancelled", "two": "cancelled", "three": "queued"}, "cancelled by the command")
    stage.delay("text")
    stage.run("release", "family")
    agrees({"three": "queued"}, "released by the command", "the gateway is closed")
    stage.delay()
    tab.goto(stage.url("/queue"))
    press(tab, "queue.flush")
    assert "tried now" in tab.get_by_test_id("page.notice").inner_text()
    agrees({"three": "sent"}, "flushed by the page")
    stage.delay("text")
    stage.drop("four", "family", text="four")
    agrees({"four": "queued"}, "put off", "the gateway is closed")
    stage.delay()
    stage.run("flush")
    agrees({"four": "sent"}, "flushed by the command")
    assert sent("three") and sent("four") and not sent("one") and not sent("two")


def ledger(stage):
    """The states of all requests, by name."""
    with contextlib.closing(sqlite3.connect(stage.spool / "state/ledger.sqlite")) as database:
        return dict(database.execute("SELECT request, state FROM requests"))


def leaves(value, path=""):
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, f"{path}.{name}")
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part, path)
    elif value is not None:
        yield path, value


def test_a_request_has_everything_that_show_has(stage):
    """The page of a request has every value of `show --json`, and the command that prints them."""
    scene = Scene(stage)
    tab = stage.open(cookies=scene.client.cookie)
    for name in ["refused", "sent"]:
        story = json.loads(stage.run("show", "--json", name))
        tab.goto(stage.url("/request/" + quote(name)))
        page = tab.get_by_test_id("request.main").inner_text()
        times = tab.locator("time").evaluate_all("times => times.map(time => time.dateTime)")
        missing = [f"{path}: {value}" for path, value in leaves(story)
                   if str(value) not in page and str(value) not in times
                   and not (isinstance(value, int) and f"{value:,}" in page)]
        assert not missing, missing
        assert f"photospool show {name}" in page
    stage.picture(tab, "request-sent")


def test_a_refused_request_can_be_deleted(stage):
    """A request that could not be read has a page, where it is deleted after being asked for twice."""
    tab = stage.log_in()
    stage.drop("bad", "family", photos=[])
    until(lambda: stage.failed() == ["bad"], "it is refused")
    tab.goto(stage.url("/queue"))
    press(tab, "queue.request")
    assert len(tab.get_by_test_id("request.error").inner_text()) > 10
    tab.get_by_test_id("request.delete").click()
    press(tab, "request.delete-now")
    tab.get_by_test_id("queue.main").wait_for()
    assert stage.failed() == []
