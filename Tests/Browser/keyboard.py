"""The page without a mouse."""

from client import form
from photographs import photograph
from scene import Scene
from stage import enter, has_left, until

# Where the focus is, whether it is on the screen, and whether anything there looks different without it.
FOCUS = """within => {
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
        name: e.dataset.test || e.id || e.className, isWithin: e.closest(within) !== null, x: box.x, y: box.y,
        isMarked: focused !== blurred,
        isSeen: box.width > 4 && box.height > 4 && box.right > 0 && box.bottom > 0 && box.left < innerWidth
            && box.top < innerHeight,
    }
}"""

# Whether the timeline does not scroll for five frames.
RESTS = """() => new Promise(answer => {
    const timeline = document.querySelector('#timeline'), was = timeline.scrollTop
    const look = frames => frames ? requestAnimationFrame(() => look(frames - 1)) : answer(timeline.scrollTop === was)
    look(5)
})"""


def test_conversations_are_found_begun_and_left_without_a_mouse(stage):
    """By keyboard alone one logs in, filters the list, opens a conversation, reads it to its beginning and end, begins another one,
    sends a text, and logs out."""
    Scene(stage)
    stage.refuse()
    tab = stage.open(view="desk")
    tab.goto(stage.link())
    press_until(tab, "login.open")
    enter(tab)
    tab.keyboard.press("/")
    tab.keyboard.type("fam")
    enter(tab)
    press_until(tab, "list.row")
    assert tab.get_by_test_id("list.row").count() == 1
    enter(tab)
    assert "name=family" in tab.url, tab.url
    press_until(tab, "timeline")
    for key, message in [("Home", "first"), ("End", "last")]:
        tab.keyboard.press(key)
        # A key that comes while the page still scrolls may be lost.
        until(lambda: is_seen(getattr(tab.get_by_test_id("message"), message)) and tab.evaluate(RESTS),
              f"{key} shows the {message} message")
    press_until(tab, "list.home", key="Shift+Tab")
    enter(tab)
    press_until(tab, "list.new")
    tab.keyboard.press("Enter")
    press_until(tab, "new.name")
    tab.keyboard.type("album")
    enter(tab)
    assert tab.get_by_test_id("conversation.name").inner_text() == "album"
    press_until(tab, "composer.text")
    tab.keyboard.type("By keyboard?")
    press_until(tab, "composer.send")
    tab.keyboard.press("Enter")
    until(lambda: "By keyboard?" in [line.get("text") for line in stage.lines()] and has_left(tab), "it is sent")
    press_until(tab, "foot.logout")
    enter(tab)
    tab.get_by_test_id("login.sentence").wait_for()


def test_photos_are_fetched_revealed_saved_and_sent_without_a_mouse_and_script(stage):
    """By keyboard alone, and without JavaScript, a photo is fetched, another one is revealed, saved under the conversation's name and
    the time, turned away from and back to, hidden again and closed. A photo and a text are sent; the text fails, is tried again, and
    is deleted."""
    scene = Scene(stage)
    tab = stage.open(view="desk", cookies=scene.client.cookie, javascript=False)
    tab.goto(stage.url("/conversation", "family"))
    follow(tab, "message.fetch")
    stage.wait_for_state("offered", "downloaded")
    tab.goto(stage.url("/conversation", "family"))
    follow(tab, "message.reveal", within=f"[id='{scene.hidden}']")
    follow(tab, "ask.show")
    assert "auto-reveal: on" in stage.run("prefs", "family")
    follow(tab, "message.photo", within=f"[id='{scene.hidden}']")
    press_until(tab, "photo.save")
    with tab.expect_download() as download:
        tab.keyboard.press("Enter")
    assert download.value.path().read_bytes() == scene.client.get(f"/photo/{scene.hidden}/original").body
    name = download.value.suggested_filename
    assert name.startswith("family-") and name.endswith(".jpg"), name
    follow(tab, "photo.previous")
    follow(tab, "photo.next")
    assert tab.url.endswith(scene.hidden)
    follow(tab, "photo.hide")
    tab.get_by_test_id("photo.reveal").wait_for()
    follow(tab, "photo.close")
    before = stage.delivered()
    press_until(tab, "composer.text")
    tab.keyboard.type("Refused, too")
    press_until(tab, "composer.photos")
    choose(tab, photograph(stage.directory, "a.jpg", 300, 200))
    follow(tab, "composer.send")
    until(lambda: stage.delivered() == before + ["photo"] and len(stage.failed()) == 2, "the photo is sent, the text is not")
    for act, count in [("retry", 2), ("delete", 1)]:
        tab.reload()
        follow(tab, f"message.{act}", within="li:last-child")
        until(lambda: len(stage.failed()) == count and len(stage.waiting()) == 1, f"{act} is done")


def test_photos_are_fetched_revealed_saved_and_hidden_without_a_mouse(stage):
    """By keyboard alone, and without another page, a photo is fetched, one is revealed and the sheet is answered. The viewer opens,
    turns, saves, hides and closes. A message that waits is cancelled."""
    scene = Scene(stage)
    tab = stage.open(view="desk", cookies=scene.client.cookie)
    stage.compose(tab)
    address = tab.url
    use(tab, "message.fetch")
    stage.wait_for_state("offered", "downloaded")
    until(lambda: tab.get_by_test_id("message.reveal").count() == 2, "it is shown")
    use(tab, "message.reveal", within=f"[id='{scene.hidden}']")
    tab.get_by_test_id("ask.sheet").wait_for()
    stage.picture(tab, "sheet-desk")
    use(tab, "ask.show")
    tab.get_by_test_id("ask.sheet").wait_for(state="detached")
    until(lambda: "auto-reveal: on" in stage.run("prefs", "family"), "the answer is kept")
    use(tab, "message.photo", within=f"[id='{scene.hidden}']")
    tab.locator("dialog.viewer[open]").wait_for()
    saved = lambda: tab.get_by_test_id("photo.save").get_attribute("href")
    assert scene.hidden in saved()
    tab.keyboard.press("ArrowLeft")
    until(lambda: scene.hidden not in saved(), "it turns")
    use(tab, "photo.next")
    until(lambda: scene.hidden in saved(), "it turns back")
    press_until(tab, "photo.save")
    with tab.expect_download() as download:
        tab.keyboard.press("Enter")
    assert download.value.path().read_bytes() == scene.client.get(f"/photo/{scene.hidden}/original").body
    use(tab, "photo.close")
    tab.locator("dialog.viewer[open]").wait_for(state="detached")
    tab.keyboard.press("Enter")
    tab.locator("dialog.viewer[open]").wait_for()
    use(tab, "photo.hide")
    tab.locator(f"[id='{scene.hidden}'] [data-test='message.reveal']").wait_for()
    assert tab.locator("dialog[open]").count() == 0 and tab.url == address
    tab.goto(stage.url("/conversation", "garden"))
    use(tab, "message.cancel")
    until(lambda: not stage.waiting(), "it is cancelled")


def test_photos_are_composed_without_a_mouse(stage):
    """By keyboard alone photos are picked, taken, moved, removed and sent, once for two Sends. A message that failed is tried
    again, another one is deleted, and one that has not left is cancelled."""
    stage.program_as_network()
    stage.refuse("text")
    tab = stage.log_in(view="phone")
    stage.compose(tab)
    choose(tab, *(photograph(stage.directory, f"{name}.jpg", 300, 200) for name in "abc"), key="p")
    press_until(tab, "composer.camera")
    choose(tab, photograph(stage.directory, "d.jpg", 200, 300))
    names = lambda: tab.get_by_test_id("composer.photo").locator("bdi").all_inner_texts()
    press_until(tab, "composer.photo", key="Shift+Tab")
    assert names() == ["a.jpg", "b.jpg", "c.jpg", "d.jpg"]
    tab.keyboard.press("ArrowLeft")
    assert names() == ["a.jpg", "b.jpg", "d.jpg", "c.jpg"]
    for _ in range(2):
        tab.keyboard.press("Delete")
    assert names() == ["a.jpg", "b.jpg"]
    press_until(tab, "composer.text")
    tab.keyboard.type("By keyboard")
    for _ in range(2):
        tab.keyboard.press("Control+Enter")
    tab.get_by_test_id("message.retry").wait_for()
    assert stage.delivered() == ["photo", "photo"] and len(stage.failed()) == 1
    stage.refuse()
    use(tab, "message.retry", key="Shift+Tab")
    until(lambda: stage.delivered() == ["photo", "photo", "text"], "it is sent")
    until(lambda: "Sent" in tab.get_by_test_id("message.meta").last.inner_text(), "the page says so")
    stage.refuse("text")
    tab.keyboard.press("c")
    tab.keyboard.type("Not wanted")
    tab.keyboard.press("Control+Enter")
    tab.get_by_test_id("message.delete").wait_for()
    use(tab, "message.delete", key="Shift+Tab")
    until(lambda: not stage.failed(), "it is deleted")
    tab.context.set_offline(True)
    tab.keyboard.press("c")
    press_until(tab, "composer.photos")
    choose(tab, photograph(stage.directory, "e.jpg", 300, 200))
    use(tab, "composer.send")
    use(tab, "message.cancel", key="Shift+Tab")
    until(lambda: "Nothing was sent" in tab.get_by_test_id("page.said").inner_text(), "it is cancelled")
    tab.context.set_offline(False)


def test_the_queue_is_worked_without_a_mouse(stage):
    """By keyboard alone the queue is filtered, paused and tried now. What failed is tried again: all of it, what is ticked, or one
    on its page, where it is also deleted. What waits is cancelled in the same ways, and released."""
    scene = Scene(stage)
    for name in ["bad-1", "bad-2", "bad-3"]:
        stage.drop(name, "family", text=name)
    for name in ["wait-1", "wait-2", "wait-3"]:
        stage.drop(name, "garden", text=name)
    until(lambda: len(stage.failed()) == 4 and len(stage.accepted()) == 4, "some are refused, some wait")
    tab = stage.open(cookies=scene.client.cookie)
    tab.goto(stage.url("/queue"))
    tab.get_by_test_id("board.pause").wait_for()
    use(tab, "board.pause")
    assert tab.get_by_test_id("board.pause").get_attribute("aria-label") == "Go on live"
    follow(tab, "queue.flush")
    assert "tried now" in tab.get_by_test_id("page.notice").inner_text()
    tab.goto(stage.url("/queue") + "?q=bad-1")
    follow(tab, "queue.request")
    use(tab, "request.delete")
    follow(tab, "request.delete-now")
    assert "bad-1" not in stage.failed()
    stage.refuse()
    tab.goto(stage.url("/queue") + "?q=bad-2")
    follow(tab, "queue.request")
    follow(tab, "request.retry")
    tab.goto(stage.url("/queue") + "?q=bad-3")
    press_until(tab, "queue.tick")
    tab.keyboard.press("Space")
    follow(tab, "queue.retry-ticked", key="Shift+Tab")
    until(lambda: "bad-3" in [line.get("text") for line in stage.lines()] and len(stage.waiting()) == 4, "it is sent")
    press_until(tab, "queue.words")
    tab.keyboard.press("Control+a")
    tab.keyboard.type("is:failed")
    enter(tab)
    follow(tab, "queue.retry")
    until(lambda: not stage.failed() and {"bad-2", "bad-3", "This one is refused."} <= {line.get("text") for line in stage.lines()},
          "all others are sent")
    tab.goto(stage.url("/queue") + "?q=wait-1")
    follow(tab, "queue.request")
    follow(tab, "request.cancel")
    tab.goto(stage.url("/queue") + "?q=wait-2")
    press_until(tab, "queue.tick")
    tab.keyboard.press("Space")
    use(tab, "queue.cancel-ticked", key="Shift+Tab")
    follow(tab, "queue.cancel-ticked-now")
    tab.goto(stage.url("/queue") + "?q=wait-3")
    use(tab, "queue.cancel")
    follow(tab, "queue.cancel-now")
    until(lambda: [line["request"] for line in stage.waiting()] == ["held"], "these are cancelled")
    tab.goto(stage.url("/queue"))
    follow(tab, "queue.release")
    until(lambda: not stage.waiting() and "Later" in [line.get("text") for line in stage.lines()], "the last one is sent")


def test_a_conversation_is_looked_after_without_a_mouse(stage):
    """By keyboard alone preferences are changed, a conversation is held and released, cleared, and deleted by its name."""
    scene = Scene(stage)
    tab = stage.open(cookies=scene.client.cookie)
    tab.goto(stage.url("/conversation/settings", "family"))
    press_until(tab, "settings.reveal-off")
    tab.keyboard.press("ArrowDown")
    assert tab.get_by_test_id("settings.reveal-on").is_checked()
    follow(tab, "settings.save")
    until(lambda: "auto-reveal: on" in stage.run("prefs", "family"), "it is kept")
    for act, other in [("settings.hold", "settings.release"), ("settings.release", "settings.hold")]:
        follow(tab, act)
        tab.get_by_test_id(other).wait_for()
    tab.goto(stage.url("/storage"))
    tab.get_by_test_id("board.pause").wait_for()
    use(tab, "storage.clear")
    tab.get_by_test_id("clear.sheet").wait_for()
    stage.picture(tab, "clear-sheet")
    use(tab, "clear.keep")
    tab.get_by_test_id("clear.sheet").wait_for(state="detached")
    until(lambda: tab.evaluate("document.activeElement.dataset.test") == "storage.clear", "the focus returns")
    tab.keyboard.press("Enter")
    tab.get_by_test_id("clear.sheet").wait_for()
    follow(tab, "clear.now")
    assert "Cleared" in tab.get_by_test_id("page.notice").inner_text()
    follow(tab, "storage.purge")
    name = tab.get_by_test_id("purge.main").locator("h1 bdi").inner_text()
    press_until(tab, "purge.name")
    tab.keyboard.type(name)
    enter(tab)
    assert "deleted" in tab.get_by_test_id("page.notice").inner_text() and name not in tab.get_by_test_id("list.rows").inner_text()


def test_checks_profile_and_sessions_are_used_without_a_mouse(stage):
    """By keyboard alone checks are run, a session is ended, and a profile photo is set, changed, tried again and removed. The old
    one stays while a change fails."""
    scene = Scene(stage)
    stage.link("--name", "forgotten")
    tab = stage.open(cookies=scene.client.cookie)
    tab.goto(stage.url("/check"))
    follow(tab, "check.now")
    tab.get_by_test_id("check.outcome").first.wait_for()
    tab.goto(stage.url("/sessions"))
    entries = tab.get_by_test_id("sessions.entry")
    count = entries.count()
    assert entries.first.locator("h2").inner_text() == "forgotten"
    follow(tab, "sessions.end")
    until(lambda: entries.count() == count - 1, "it has ended")
    tab.goto(stage.url("/profile"))
    for name, outcome in [("first", "done"), ("second", "done"), ("third", "error")]:
        stage.refuse(*(["profile"] if outcome == "error" else []))
        press_until(tab, "profile.file")
        choose(tab, photograph(stage.directory, f"{name}.jpg", 300, 300 + len(name)))
        follow(tab, "profile.set")
        tab.get_by_test_id(f"profile.{outcome}").wait_for()
        tab.get_by_test_id("profile.photo").wait_for()
    stage.refuse()
    follow(tab, "profile.retry")
    until(lambda: stage.delivered().count("profile") == 3 and len(stage.waiting()) == 1, "it is tried again")
    tab.reload()
    use(tab, "profile.remove")
    follow(tab, "profile.remove-now")
    tab.get_by_test_id("profile.blank").wait_for()


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
    stage.compose(other, "album")
    use(other, "composer.remove")
    assert other.get_by_test_id("composer.photo").locator("bdi").all_inner_texts() == ["b.jpg"]
    until(lambda: tab.get_by_test_id("composer.photo").count() == 1, "the first window shows it")
    other.keyboard.press("c")
    use(other, "composer.send")
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
        focus = tab.evaluate(FOCUS, "*")
        if focus["name"] == "body" or found and focus == found[0]:
            break
        found.append(focus)
    return found


def press_until(tab, name, key="Tab", within="*"):
    """Presses Tab until the focus is there. Each stop on the way is on the screen and marked."""
    for _ in range(150):
        tab.keyboard.press(key)
        focus = tab.evaluate(FOCUS, within)
        assert focus["name"] == "body" or focus["isSeen"] and focus["isMarked"], focus
        if focus["name"] == name and focus["isWithin"]:
            return
    raise AssertionError(f"the Tab key never comes to {name}")


def use(tab, name, **options):
    """Presses Tab until the focus is there, and then Enter."""
    press_until(tab, name, **options)
    tab.keyboard.press("Enter")


def follow(tab, name, **options):
    """The same where Enter leads to another page."""
    press_until(tab, name, **options)
    enter(tab)


def choose(tab, *photos, key="Space"):
    """Presses a key that asks for photos, and chooses these."""
    with tab.expect_file_chooser() as chooser:
        tab.keyboard.press(key)
    chooser.value.set_files(photos)


def is_seen(message):
    box = message.bounding_box()
    return box is not None and box["y"] + box["height"] > 60 and box["y"] < 840
