"""Every page, looked at by axe-core with the rules of WCAG 2.2 A and AA, and by a person: each is a screenshot, too."""

from axe_playwright_python.base import AXE_SCRIPT

from client import form
from photographs import photograph
from scene import Scene
from stage import VIEWS, press, until

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# The dark scheme has other colours, and nothing else.
CONTRAST = {"type": "rule", "values": ["color-contrast"]}
# Colours are as they stay once the transitions and animations that end have ended.
SETTLED = """() => Promise.allSettled(document.getAnimations()
    .filter(one => one.effect.getComputedTiming().endTime < Infinity).map(one => one.finished))"""
LOOK = """async rules => {
    const {passes, violations} = await axe.run({runOnly: rules, resultTypes: ['violations']})
    const found = violations.flatMap(({id, nodes}) => nodes.map(node => `${id}: ${node.target} ${node.failureSummary}`))
    return [passes.length, found, document.documentElement.scrollWidth - innerWidth]
}"""


def test_pages_have_no_violation(stage):
    """On a phone, a tablet and a desk no page has a violation, in both colour schemes, and with text of 200 % and what can be
    unfolded."""
    scene = Scene(stage)
    look(stage, scene.client, scene.pages())


def test_the_operators_pages_have_no_violation(stage):
    """No page for who looks after the system has a violation, also with the outcomes of checks, a profile photo and its error, what
    a phone shared, and the questions before something is deleted."""
    scene = Scene(stage)
    photo = photograph(stage.directory, "me.jpg", 300, 300).read_bytes()
    for name in ["first", "second"]:
        body, content_type = form({"id": name}, [("me.jpg", photo)])
        scene.client.post("/profile", body, Content_Type=content_type)
        until(lambda: [message["request"] for message in stage.waiting()] == ["held"], "the photo is set, or refused")
        stage.refuse("text", "profile")
    assert scene.client.post("/check").status == 303
    body, content_type = form({"text": "shared"}, [("me.jpg", photo)])
    share = scene.client.post("/share", body, Content_Type=content_type).headers["Location"]
    look(stage, scene.client, scene.operating() | {"share": share})
    page = scene.client.get("/profile").text
    assert 'data-test="profile.photo"' in page and 'data-test="profile.error"' in page
    assert 'data-test="check.outcome"' in scene.client.get("/check").text


def look(stage, client, pages):
    """Looks at pages on every screen. Those without a mouse share a tab, which takes both sizes."""
    wrong = []
    for views in (["phone", "tablet"], ["desk"]):
        tab = stage.open(view=views[0], cookies=client.cookie)
        for name, path in pages.items():
            tab.goto(stage.url(path))
            for view in views:
                wrong += looks(stage, tab, f"{name}-{view}", view)
        tab.context.close()
    assert not wrong, "\n".join(wrong)


def looks(stage, tab, name, view):
    """Violations of a page in both schemes, and with large text and everything unfolded."""
    width, height = VIEWS[view]
    tab.set_viewport_size({"width": width, "height": height})
    found = violations(stage, tab, f"{name}-light")
    unfold = "isOpen => { for (const one of document.querySelectorAll('main details')) one.open = isOpen }"
    tab.evaluate(unfold, True)
    tab.emulate_media(color_scheme="dark")
    found += violations(stage, tab, f"{name}-dark", CONTRAST)
    tab.emulate_media(color_scheme="light")
    tab.evaluate("document.documentElement.style.fontSize = '200%'")
    found += violations(stage, tab, f"{name}-200")
    tab.evaluate("document.documentElement.style.fontSize = ''")
    tab.evaluate(unfold, False)
    return found


def violations(stage, tab, name, rules=RULES):
    tab.evaluate(SETTLED)
    stage.picture(tab, name)
    if not tab.evaluate("'axe' in window"):
        tab.evaluate(AXE_SCRIPT)
    passes, found, sideways = tab.evaluate(LOOK, rules)
    assert passes > 5 or rules is CONTRAST and passes, f"axe looked at nothing on {name}"
    return [f"{name}: {one}" for one in found] + ([f"{name}: it scrolls sideways by {sideways} px"] if sideways > 0 else [])


def test_banners_the_login_and_the_logout_have_no_violation(stage):
    """The pages before a session and after it, and a conversation while the daemon is down and the line is cut, with a photo that
    cannot be sent, have no violation."""
    scene, wrong = Scene(stage), []
    stage.stop_daemon()
    (stage.directory / "large.jpg").write_bytes(bytes(10_000_001))
    for view in VIEWS:
        tab = stage.open(view=view)
        tab.goto(stage.link())
        wrong += looks(stage, tab, f"login-{view}", view)
        press(tab, "login.open")
        stage.compose(tab)
        tab.context.set_offline(True)
        tab.get_by_test_id("composer.photos").set_input_files([stage.directory / "wide.jpg", stage.directory / "large.jpg"])
        tab.get_by_test_id("composer.send").click()
        for name in ["page.daemon", "page.cut", "composer.problem"]:
            tab.get_by_test_id(name).wait_for()
        wrong += looks(stage, tab, f"trouble-{view}", view)
        tab.context.set_offline(False)
        tab.get_by_test_id("page.cut").wait_for(state="detached")
        for _ in range(2):
            tab.get_by_test_id("composer.remove").first.click()
        tab.goto(stage.url("/"))
        press(tab, "foot.logout")
        wrong += looks(stage, tab, f"logged-out-{view}", view)
        assert tab.goto(stage.url("/")).status == 401
        wrong += looks(stage, tab, f"stranger-{view}", view)
    assert not wrong, "\n".join(wrong)


def test_open_dialogs_have_no_violation(stage):
    """The viewer, the shortcuts, and the questions after a reveal and before Clear have no violation while they are open, on every
    screen and in both colour schemes."""
    scene, wrong = Scene(stage), []
    for view in VIEWS:
        tab = stage.open(view=view, cookies=scene.client.cookie)
        stage.compose(tab)
        tab.keyboard.press("?")
        wrong += dialog(stage, tab, "help.main", f"shortcuts-{view}")
        tab.get_by_test_id("message.photo").last.click()
        wrong += dialog(stage, tab, "photo.main", f"viewer-{view}")
        tab.get_by_test_id("message.reveal").click()
        wrong += dialog(stage, tab, "ask.sheet", f"sheet-{view}")
        assert scene.client.post(f"/photo/{scene.hidden}/hide").status == 303
        tab.goto(stage.url("/storage"))
        tab.get_by_test_id("board.pause").wait_for()
        tab.get_by_test_id("storage.clear").click()
        wrong += dialog(stage, tab, "clear.sheet", f"clear-sheet-{view}")
    assert not wrong, "\n".join(wrong)


def dialog(stage, tab, name, picture):
    """The violations of an open dialog, which is closed afterwards."""
    tab.locator(f"dialog[open][data-test='{name}']").wait_for()
    found = violations(stage, tab, f"{picture}-light")
    tab.emulate_media(color_scheme="dark")
    found += violations(stage, tab, f"{picture}-dark", CONTRAST)
    tab.emulate_media(color_scheme="light")
    tab.keyboard.press("Escape")
    tab.locator("dialog[open]").wait_for(state="detached")
    return found


def test_targets_are_44_pixels(stage):
    """On a phone everything that is tapped has at least 44 × 44 px, or is a link within text."""
    scene, small = Scene(stage), []
    tab = stage.open(view="phone", cookies=scene.client.cookie)
    for name, path in (scene.pages() | scene.operating()).items():
        tab.goto(stage.url(path))
        small += tab.evaluate("""name => [...document.querySelectorAll(
                'a, button, summary, input:not([type=hidden]), textarea, select')]
            .filter(e => e.checkVisibility({opacityProperty: true, visibilityProperty: true}))
            .map(e => {
                const own = e.getBoundingClientRect(), label = (e.closest('label') || e).getBoundingClientRect()
                return [e, {width: Math.max(own.width, label.width), height: Math.max(own.height, label.height)}]
            })
            .filter(([e, box]) => box.width > 4 && (box.width < 43.5 || box.height < 43.5) && !e.matches('.skip, p a'))
            .map(([e, box]) => `${name}: ${e.dataset.test || e.outerHTML.slice(0, 60)} ${box.width} × ${box.height}`)
            """, name)
    assert not small, "\n".join(small)


def test_reduced_motion_is_honoured(stage):
    """With reduced motion nothing is animated or scrolls smoothly."""
    scene, moving = Scene(stage), []
    tab = stage.open(cookies=scene.client.cookie, reduced_motion="reduce")
    for name, path in (scene.pages() | scene.operating()).items():
        tab.goto(stage.url(path))
        moving += tab.evaluate("""name => [...document.querySelectorAll('*')].map(e => [e, getComputedStyle(e)])
            .filter(([e, style]) => style.scrollBehavior === 'smooth' || parseFloat(style.animationDuration) > 0.02
                || style.transitionDuration.split(',').some(part => parseFloat(part) > 0.02))
            .map(([e]) => `${name}: ${e.outerHTML.slice(0, 80)}`)""", name)
    assert not moving, "\n".join(moving)


def test_labels_say_whose_photo_it_is(stage):
    """Pictures are called by their sender, and the state of an upload is text."""
    scene = Scene(stage)
    tab = stage.open(cookies=scene.client.cookie, view=next(iter(VIEWS)))
    tab.goto(stage.url("/conversation", "family"))
    labels = tab.locator(".timeline img").evaluate_all("images => images.map(image => image.alt)")
    assert labels[0].startswith("Photo from @anna:example.org") and labels[0].endswith("opens full screen"), labels
    assert any(label.startswith("Hidden photo from @anna:example.org") for label in labels), labels
    assert any(label.startswith("Photo from you") for label in labels), labels
