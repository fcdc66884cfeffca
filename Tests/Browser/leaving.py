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


def test_a_text_goes_over_to_another_window(stage):
    """A text that is typed in one window is in the other one by itself, and leaves it when it is sent. What somebody types in
    the other window stays there."""
    tab = begin(stage)
    other = tab.context.new_page()
    stage.compose(other)
    here, there = tab.get_by_test_id("composer.text"), other.get_by_test_id("composer.text")
    here.fill("begun here")
    until(lambda: there.input_value() == "begun here", "it goes over")
    there.fill("begun here, ended there")
    until(lambda: here.input_value() == "begun here, ended there", "it comes back")
    other.get_by_test_id("composer.send").click()
    until(lambda: has_left(other) and here.input_value() == "", "it leaves the first window")
    until(lambda: stage.are_sent(1), "it is sent")
    other.route("**/draft/*/text?*", lambda route: route.abort())
    there.fill("typed there")
    stage.client(stage.link()).ask("PUT", "/draft/new/text?name=family", "typed elsewhere")
    until(lambda: here.input_value() == "typed elsewhere", "the first window has the other text")
    assert there.input_value() == "typed there"
    assert stage.texts("family") == ["begun here, ended there"]
