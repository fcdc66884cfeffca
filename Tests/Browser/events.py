"""The stream of events, by plain HTTP."""

from photographs import photograph
from stage import until


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
