"""A queue with very many requests."""

import sqlite3
import statistics
import time

from stage import press, until

MANY = 100_000
FAILED = 312

# Copies of the one request that waits, as the ledger has them. Nobody looks for their directories while no daemon runs.
COPIES = f"""
CREATE TEMP TABLE numbers AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY - 1}) SELECT i FROM n;
INSERT INTO requests (request, dropped_as, inode, born, conversation_id, inbox, digest, state, bytes, accepted_at)
  SELECT r.request || '-' || i, r.dropped_as || '-' || i, 1000000000 + i, r.born, r.conversation_id, r.inbox, r.digest, r.state,
    r.bytes, r.accepted_at FROM requests r, numbers WHERE r.request = 'one' ORDER BY i;
INSERT INTO messages (message, request_id, conversation_id, position, kind, file, bytes, digest, state)
  SELECT m.message || '-' || i, n.id, m.conversation_id, m.position, m.kind, m.file, m.bytes, m.digest, m.state
  FROM messages m JOIN requests r ON r.id = m.request_id JOIN numbers JOIN requests n ON n.request = 'one-' || i
  WHERE r.request = 'one' ORDER BY i;
"""


def test_exactly_312_of_very_many_are_tried_again(stage):
    """With 100,000 requests that wait and 312 that failed, the queue is shown and filtered, and "Retry 312" sends exactly these
    again. A number that is not true any more is refused."""
    stage.start_daemon()
    link = stage.start_page()
    stage.run("hold", "garden")
    stage.drop("one", "garden", text="later")
    for number in range(FAILED):
        stage.drop(f"empty-{number:03}", "family")
    until(lambda: stage.accepted() == ["one"] and len(stage.failed()) == FAILED, "one waits, the others are refused")
    stage.stop_daemon()
    with sqlite3.connect(stage.spool / "state" / "ledger.sqlite") as ledger:
        ledger.executescript(COPIES)
    ledger.close()
    tab = stage.open(link)
    client = stage.client(stage.link())
    times = []
    for path in ["/queue", "/queue?state=held", "/queue?q=one-99"] * 5:
        begun = time.monotonic()
        answer = client.get(path)
        times.append(1000 * (time.monotonic() - begun))
        assert answer.status == 200
    assert f"{MANY:,} wait" in client.get("/queue").text
    print(f"a page of the queue: {statistics.median(times):.0f} ms, at most {max(times):.0f} ms")
    tab.goto(stage.url("/queue"))
    tab.get_by_test_id("queue.words").fill("is:failed")
    press(tab, "queue.apply")
    assert f"Retry {FAILED} failed" in tab.get_by_test_id("queue.retry").inner_text()
    assert client.post("/queue/retry?state=failed", f"count={FAILED - 1}").status == 409
    assert len(stage.failed()) == FAILED
    press(tab, "queue.retry")
    assert f"{FAILED} requests are sent again" in tab.get_by_test_id("page.notice").inner_text()
    assert len(list((stage.spool / "new").glob("empty-*"))) == FAILED and not stage.failed()
