"""The page is left, or open twice: what is composed is in the draft."""

from composer import begin, pick
from stage import has_left, until


def test_what_was_just_typed_is_kept(stage):
    """Somebody types and leaves the page at once. The text is there again when the page is opened."""
    tab = begin(stage)
    tab.get_by_test_id("composer.text").fill("just typed")
    tab.goto(stage.url("/"))
    until(lambda: list((stage.spool / "draft").glob("*/text")), "it is kept")
    tab.goto(stage.url("/conversation", "family"))
    assert tab.get_by_test_id("composer.text").input_value() == "just typed"


def test_the_page_asks_before_a_photo_is_lost(stage):
    """While a photo is only in the browser, the page asks before it closes. Once the draft has it, the page closes at once."""
    tab = begin(stage)
    # A browser asks only about pages that somebody has used.
    tab.get_by_test_id("composer.text").click()
    tab.context.set_offline(True)
    pick(stage, tab, 1)
    with tab.expect_event("dialog") as question:
        tab.close(run_before_unload=True)
    assert question.value.type == "beforeunload"
    question.value.dismiss()
    tab.context.set_offline(False)
    until(lambda: tab.locator(".thumbs .done").count() == 1, "it is uploaded")
    questions = []
    tab.on("dialog", lambda dialog: (questions.append(dialog.type), dialog.accept()))
    with tab.expect_event("close"):
        tab.close(run_before_unload=True)
    assert not questions, questions
