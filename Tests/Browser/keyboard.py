"""The page without a mouse."""

from client import form
from photographs import photograph
from scene import Scene
from stage import enter, until

# Where the focus is, whether it is on the screen, and whether anything there looks different without it.
FOCUS = """() => {
    const e = document.activeElement, box = e.getBoundingClientRect()
    if (e === document.body) return {name: 'body'}
    const look = () => [e, e.closest('label') || e, e.closest('form') || e].map(one => {
        const style = getComputedStyle(one)
        return [style.outlineStyle, style.outlineWidth, style.boxShadow, style.borderColor].join()
    }).join()
    const focused = look()
    e.blur()
    const blurred = look()
    e.focus({preventScroll: true})
    return {
        name: e.dataset.test || e.id || e.className, x: box.x, y: box.y, isMarked: focused !== blurred,
        isSeen: box.width > 4 && box.height > 4 && box.right > 0 && box.bottom > 0 && box.left < innerWidth
            && box.top < innerHeight,
    }
}"""


def test_a_text_is_sent_without_a_mouse(stage):
    """By keyboard alone one logs in, opens a conversation, types and sends; the focus is visible all the way."""
    scene = Scene(stage)
    stage.refuse()
    tab = stage.open(view="desk")
    tab.goto(stage.link())
    press_until(tab, "login.open")
    enter(tab)
    press_until(tab, "list.row")
    press_until(tab, "list.row")
    enter(tab)
    assert "name=family" in tab.url, tab.url
    press_until(tab, "composer.text")
    tab.keyboard.type("By keyboard?")
    press_until(tab, "composer.send")
    tab.keyboard.press("Enter")
    until(lambda: "By keyboard?" in [line.get("text") for line in stage.lines()], "it is sent")
    assert scene.client.get("/healthz").status == 204


def test_a_photo_is_revealed_and_closed_without_a_mouse(stage):
    """By keyboard alone a hidden photo is revealed, opened, hidden again and closed."""
    scene = Scene(stage)
    tab = stage.open(view="desk", cookies=scene.client.cookie, javascript=False)
    tab.goto(stage.url("/conversation", "family"))
    press_until(tab, "message.reveal")
    enter(tab)
    photo = tab.locator(f"[id='{scene.hidden}'] a[data-test='message.photo']")
    photo.focus()
    enter(tab)
    tab.get_by_test_id("photo.picture").wait_for()
    press_until(tab, "photo.hide")
    enter(tab)
    tab.get_by_test_id("photo.reveal").wait_for()
    press_until(tab, "photo.close")
    enter(tab)
    tab.get_by_test_id("composer.form").wait_for()


def test_a_photo_is_revealed_viewed_and_hidden_on_its_page_without_a_mouse(stage):
    """With JavaScript, a hidden photo is revealed by keyboard alone. The sheet asks about later ones; the viewer opens and closes,
    and the photo is hidden again, without another page."""
    scene = Scene(stage)
    tab = stage.open(view="desk", cookies=scene.client.cookie)
    tab.goto(stage.url("/conversation", "family"))
    tab.locator("form.composer.live").wait_for()
    address = tab.url
    press_until(tab, "message.reveal")
    tab.keyboard.press("Enter")
    photo = tab.locator(f"[id='{scene.hidden}'] a[data-test='message.photo']")
    photo.wait_for()
    tab.get_by_test_id("ask.sheet").wait_for()
    stage.picture(tab, "sheet-desk")
    tab.keyboard.press("Escape")
    tab.get_by_test_id("ask.sheet").wait_for(state="detached")
    photo.focus()
    tab.keyboard.press("Enter")
    tab.locator("dialog.viewer[open]").wait_for()
    press_until(tab, "photo.hide")
    tab.keyboard.press("Enter")
    tab.locator(f"[id='{scene.hidden}'] [data-test='message.reveal']").wait_for()
    assert tab.locator("dialog[open]").count() == 0 and tab.url == address


def test_photos_are_composed_without_a_mouse(stage):
    """By keyboard alone photos are picked, moved, removed and sent, and a message that failed is tried again."""
    stage.program_as_network()
    stage.refuse("text")
    stage.start_daemon()
    tab = stage.open(stage.start_page())
    choosers = []
    tab.on("filechooser", lambda chooser: choosers.append(chooser))
    tab.goto(stage.url("/conversation", "family"))
    tab.locator("form.composer.live").wait_for()
    tab.keyboard.press("p")
    until(lambda: tab.evaluate("1") and choosers, "photos are asked for")
    choosers[0].set_files([photograph(stage.directory, f"{name}.jpg", 300, 200) for name in "abc"])
    names = lambda: tab.get_by_test_id("composer.photo").locator("bdi").all_inner_texts()
    press_until(tab, "composer.photo")
    tab.keyboard.press("ArrowRight")
    assert names() == ["b.jpg", "a.jpg", "c.jpg"]
    tab.keyboard.press("Delete")
    assert names() == ["b.jpg", "c.jpg"]
    press_until(tab, "composer.text")
    tab.keyboard.type("By keyboard")
    tab.keyboard.press("Control+Enter")
    tab.get_by_test_id("message.retry").wait_for()
    assert stage.delivered() == ["photo", "photo"]
    stage.refuse()
    tab.keyboard.press("Shift+Tab")
    press_until(tab, "message.retry")
    tab.keyboard.press("Enter")
    until(lambda: stage.delivered() == ["photo", "photo", "text"], "it is sent")
    until(lambda: "Sent" in tab.get_by_test_id("message.meta").last.inner_text(), "the page says so")


def test_the_queue_is_worked_without_a_mouse(stage):
    """By keyboard alone the queue is filtered, what failed is tried again, what waits is ticked, cancelled and released, everything
    is tried now, and the page is paused."""
    scene = Scene(stage)
    stage.refuse()
    tab = stage.open(cookies=scene.client.cookie)
    tab.goto(stage.url("/queue"))
    tab.get_by_test_id("board.pause").wait_for()
    press_until(tab, "queue.flush")
    enter(tab)
    tab.get_by_test_id("page.notice").wait_for()
    press_until(tab, "queue.words")
    tab.keyboard.type("is:failed")
    enter(tab)
    press_until(tab, "queue.retry")
    enter(tab)
    until(lambda: not stage.failed() and [line["request"] for line in stage.waiting()] == ["held"], "it is tried again")
    stage.drop("other", "garden", text="Not wanted")
    until(lambda: stage.accepted() == ["held", "other"], "they wait")
    tab.goto(stage.url("/queue"))
    press_until(tab, "board.pause")
    tab.keyboard.press("Enter")
    assert tab.get_by_test_id("board.pause").get_attribute("aria-label") == "Go on live"
    press_until(tab, "queue.tick")
    tab.keyboard.press("Space")
    row = tab.locator(":focus").evaluate("tick => tick.closest('li').id")
    tab.keyboard.press("Shift+Tab")
    press_until(tab, "queue.cancel-ticked", key="Shift+Tab")
    tab.keyboard.press("Enter")
    press_until(tab, "queue.cancel-ticked-now")
    enter(tab)
    until(lambda: len(stage.waiting()) == 1, "one is cancelled")
    assert f"request-{stage.waiting()[0]['request']}" != row
    press_until(tab, "queue.release")
    enter(tab)
    until(lambda: not stage.waiting(), "the other one is sent")


def test_a_conversation_is_looked_after_without_a_mouse(stage):
    """By keyboard alone preferences are changed, a conversation is held and released, cleared, and deleted by its name."""
    scene = Scene(stage)
    tab = stage.open(cookies=scene.client.cookie)
    tab.goto(stage.url("/conversation/settings", "family"))
    press_until(tab, "settings.reveal-off")
    tab.keyboard.press("ArrowDown")
    assert tab.get_by_test_id("settings.reveal-on").is_checked()
    press_until(tab, "settings.save")
    enter(tab)
    until(lambda: "auto-reveal: on" in stage.run("prefs", "family"), "it is kept")
    for act, other in [("settings.hold", "settings.release"), ("settings.release", "settings.hold")]:
        press_until(tab, act)
        enter(tab)
        tab.get_by_test_id(other).wait_for()
    tab.goto(stage.url("/storage"))
    tab.get_by_test_id("board.pause").wait_for()
    press_until(tab, "storage.clear")
    tab.keyboard.press("Enter")
    tab.get_by_test_id("clear.sheet").wait_for()
    stage.picture(tab, "clear-sheet")
    press_until(tab, "clear.keep")
    tab.keyboard.press("Enter")
    tab.get_by_test_id("clear.sheet").wait_for(state="detached")
    until(lambda: tab.evaluate("document.activeElement.dataset.test") == "storage.clear", "the focus returns")
    tab.keyboard.press("Enter")
    tab.get_by_test_id("clear.sheet").wait_for()
    press_until(tab, "clear.now")
    enter(tab)
    assert "Cleared" in tab.get_by_test_id("page.notice").inner_text()
    press_until(tab, "storage.purge")
    enter(tab)
    name = tab.get_by_test_id("purge.main").locator("h1 bdi").inner_text()
    press_until(tab, "purge.name")
    tab.keyboard.type(name)
    enter(tab)
    assert "deleted" in tab.get_by_test_id("page.notice").inner_text() and name not in tab.get_by_test_id("list.rows").inner_text()


def test_checks_profile_and_sessions_are_used_without_a_mouse(stage):
    """By keyboard alone checks are run, a profile photo is set and removed, and a session is ended."""
    scene = Scene(stage)
    stage.link("--name", "forgotten")
    tab = stage.open(cookies=scene.client.cookie)
    tab.goto(stage.url("/check"))
    press_until(tab, "check.now")
    enter(tab)
    tab.get_by_test_id("check.outcome").first.wait_for()
    tab.goto(stage.url("/sessions"))
    entries = tab.get_by_test_id("sessions.entry")
    count = entries.count()
    assert entries.first.locator("h2").inner_text() == "forgotten"
    press_until(tab, "sessions.end")
    enter(tab)
    until(lambda: entries.count() == count - 1, "it has ended")
    tab.goto(stage.url("/profile"))
    press_until(tab, "profile.file")
    with tab.expect_file_chooser() as chooser:
        tab.keyboard.press("Space")
    chooser.value.set_files(photograph(stage.directory, "me.jpg", 300, 300))
    assert tab.get_by_test_id("profile.file").evaluate("input => input.files.length") == 1
    press_until(tab, "profile.set")
    enter(tab)
    tab.get_by_test_id("profile.done").or_(tab.get_by_test_id("profile.error")).wait_for()


def test_a_draft_and_what_a_phone_shares_go_on_without_a_mouse(stage):
    """By keyboard alone what a phone shared goes to a conversation; its draft is there in another window, loses a photo and is
    sent."""
    scene = Scene(stage)
    stage.refuse()
    photos = [photograph(stage.directory, f"{name}.jpg", 300, 200) for name in "ab"]
    body, content_type = form({"text": "shared"}, [(photo.name, photo.read_bytes()) for photo in photos])
    place = scene.client.post("/share", body, Content_Type=content_type).headers["Location"]
    tab = stage.open(cookies=scene.client.cookie)
    tab.goto(stage.url(place))
    press_until(tab, "share.name")
    tab.keyboard.type("album")
    enter(tab)
    other = stage.open(cookies=scene.client.cookie)
    other.goto(stage.url("/conversation", "album"))
    other.locator("form.composer.live").wait_for()
    press_until(other, "composer.remove")
    other.keyboard.press("Enter")
    assert other.get_by_test_id("composer.photo").locator("bdi").all_inner_texts() == ["b.jpg"]
    until(lambda: tab.get_by_test_id("composer.photo").count() == 1, "the first window shows it")
    other.keyboard.press("c")
    press_until(other, "composer.send")
    other.keyboard.press("Enter")
    until(lambda: "shared" in [line.get("text") for line in stage.lines()], "it is sent")
    until(lambda: tab.get_by_test_id("composer.photo").count() == 0, "the first window's tray is empty")


def test_the_focus_is_visible_everywhere(stage):
    """On every page each stop of the Tab key is on the screen and marked, and the stops come in the order of the page."""
    scene, wrong = Scene(stage), []
    for view in ["phone", "desk"]:
        tab = stage.open(view=view, cookies=scene.client.cookie)
        for name, path in scene.pages().items():
            tab.goto(stage.url(path))
            wrong += [f"{view} {name}: {stop['name']} {stop}" for stop in stops(tab)
                      if not stop["isSeen"] or not stop["isMarked"]]
            positive = tab.locator("[tabindex]").evaluate_all("all => all.filter(e => e.tabIndex > 0).length")
            assert positive == 0, f"{name} changes the order of its stops"
    assert not wrong, "\n".join(wrong)


def stops(tab):
    """Every place where the Tab key stops, until it leaves the page."""
    found = []
    while len(found) < 80:
        tab.keyboard.press("Tab")
        focus = tab.evaluate(FOCUS)
        if focus["name"] == "body" or found and focus == found[0]:
            break
        found.append(focus)
    return found


def press_until(tab, name, key="Tab"):
    """Presses Tab until the focus is there, and looks at the focus on the way."""
    for _ in range(100):
        tab.keyboard.press(key)
        focus = tab.evaluate(FOCUS)
        if focus["name"] == name:
            assert focus["isSeen"] and focus["isMarked"], focus
            return
    raise AssertionError(f"the Tab key never comes to {name}")
