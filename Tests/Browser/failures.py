"""Requests that failed."""

from photographs import photograph
from stage import has_left, say, until


def test_retry_sends_only_what_was_missing(stage):
    """A failed request shows its sentence once, and Retry sends only the message that was not sent."""
    tab = failed(stage)
    assert tab.get_by_test_id("message").count() == 3
    assert "The account may not write there" in tab.get_by_test_id("message.error").inner_text()
    assert stage.delivered() == ["photo", "photo"]
    stage.refuse()
    tab.get_by_test_id("message.retry").click()
    until(lambda: len(stage.delivered()) == 3 and not stage.waiting(), "it is sent")
    assert stage.delivered() == ["photo", "photo", "text"], stage.delivered()
    tab.reload()
    assert tab.get_by_test_id("message").count() == 3
    assert tab.get_by_test_id("message.error").count() == 0
    assert "Sent" in tab.get_by_test_id("message.meta").last.inner_text()


def test_the_list_and_the_conversation_tell_of_a_failure(stage):
    """The list of conversations marks the failure, and the message says that it was not sent."""
    tab = failed(stage)
    assert "Not sent" in tab.get_by_test_id("message.meta").last.inner_text()
    tab.goto(stage.url("/"))
    assert "1 failed" in tab.get_by_test_id("list.row").inner_text()


def test_delete_removes_a_failed_request(stage):
    """Delete removes a failed request: its files are gone, it cannot be retried, and later messages are sent."""
    tab = failed(stage)
    tab.get_by_test_id("message.delete").click()
    tab.get_by_test_id("composer.form").wait_for()
    until(lambda: not stage.failed(), "it is removed")
    tab.reload()
    assert tab.get_by_test_id("message.retry").count() == 0, "what was deleted can be retried"
    assert tab.get_by_test_id("message.delete").count() == 0, "what was deleted can be deleted"
    stage.refuse()
    say(tab, "goes on")
    until(lambda: stage.delivered() == ["photo", "photo", "text"], "the next one is sent")


def test_a_waiting_message_says_why_and_is_cancelled(stage):
    """A message that waits for its network says why and until when; Cancel takes it back."""
    stage.program_as_network()
    stage.delay("text")
    tab = stage.log_in()
    tab.goto(stage.url("/conversation", "family"))
    say(tab, "not yet")
    until(lambda: any(message.get("attempts") for message in stage.waiting()) and has_left(tab), "it was tried")
    tab.reload()
    waiting = tab.get_by_test_id("message.waiting").inner_text()
    assert "the gateway is closed" in waiting and "tried again" in waiting, waiting
    # While it is tried, it is too late for this try.
    until(lambda: cancelled(stage, tab), "it is cancelled")
    tab.reload()
    assert "Cancelled" in tab.get_by_test_id("message.meta").inner_text()
    assert tab.get_by_test_id("message.cancel").count() == 0


def cancelled(stage, tab):
    """Presses Cancel if it is there. Returns whether nothing waits any more."""
    tab.evaluate("""document.querySelector('[data-test="message.cancel"]:enabled')?.click()""")
    return not stage.waiting()


def failed(stage):
    """Two photos were sent and their text was refused. Returns the conversation's page."""
    stage.program_as_network()
    stage.refuse("text")
    tab = stage.log_in()
    tab.goto(stage.url("/conversation", "family"))
    tab.get_by_test_id("composer.text").fill("refused")
    tab.get_by_test_id("composer.photos").set_input_files(
        [photograph(stage.directory, f"{number}.jpg", 600, 400) for number in range(2)])
    tab.get_by_test_id("composer.send").click()
    until(lambda: stage.failed() and not stage.waiting() and has_left(tab), "it fails")
    tab.reload()
    return tab
