"""Long conversations and long lists, page by page, without JavaScript."""

from stage import enter, press, until


def test_a_long_conversation_is_read_page_by_page(stage):
    """130 messages are on three pages, by Older and Newer, each message once and in order; the newest page comes first."""
    stage.configure("texts: keep\n")
    stage.start_daemon()
    tab = stage.open(stage.start_page(), javascript=False)
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


def test_a_long_list_is_read_page_by_page_and_filtered(stage):
    """70 conversations are on two pages, the latest first, each once; the filter finds those with a word in their name."""
    stage.start_daemon()
    tab = stage.open(stage.start_page(), javascript=False)
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
