"""Long conversations with JavaScript: a window of the timeline."""

from stage import until

MOST = 240


def test_a_long_conversation_is_scrolled_to_its_beginning_and_back(stage):
    """400 messages are scrolled through, from the newest to the oldest and back. Never more than 240 are in the document, each is
    met once and in order, and what is seen does not jump."""
    stage.configure("texts: keep\n")
    stage.start_daemon()
    tab = stage.open(stage.start_page(), view="phone")
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
    assert tab.locator("body *").count() < 1500 + MOST * 4


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
