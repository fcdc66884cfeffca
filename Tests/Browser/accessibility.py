"""Every page, looked at by axe-core with the rules of WCAG 2.2 A and AA, and by a person: each is a screenshot, too."""

from axe_playwright_python.sync_playwright import Axe

from scene import Scene
from stage import SCHEMES, VIEWS, press

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def test_a_phone_has_no_violation(stage):
    """On a phone no page has a violation, in both colour schemes and with text of 200 %."""
    look(stage, "phone")


def test_a_tablet_has_no_violation(stage):
    """On a tablet no page has a violation, in both colour schemes and with text of 200 %."""
    look(stage, "tablet")


def test_a_desk_has_no_violation(stage):
    """On a desk no page has a violation, in both colour schemes and with text of 200 %."""
    look(stage, "desk")


def test_the_operators_pages_on_a_phone_have_no_violation(stage):
    """On a phone no page for who looks after the system has a violation, in both colour schemes and with text of 200 %."""
    look(stage, "phone", Scene.operating)


def test_the_operators_pages_on_a_tablet_have_no_violation(stage):
    """On a tablet no page for who looks after the system has a violation, in both colour schemes."""
    look(stage, "tablet", Scene.operating, is_zoomed=False)


def test_the_operators_pages_on_a_desk_have_no_violation(stage):
    """On a desk no page for who looks after the system has a violation, in both colour schemes and with text of 200 %."""
    look(stage, "desk", Scene.operating)


def look(stage, view, pages=Scene.pages, is_zoomed=True):
    scene, wrong = Scene(stage), []
    for scheme in SCHEMES:
        tab = stage.open(view=view, scheme=scheme)
        tab.goto(stage.link())
        wrong += violations(stage, tab, f"login-{view}-{scheme}")
        press(tab, "login.open")
        for name, path in pages(scene).items():
            tab.goto(stage.url(path))
            wrong += violations(stage, tab, f"{name}-{view}-{scheme}")
            if scheme == "light" and is_zoomed:
                tab.evaluate("document.documentElement.style.fontSize = '200%'")
                wrong += violations(stage, tab, f"{name}-{view}-200")
    assert not wrong, "\n".join(wrong)


def violations(stage, tab, name):
    stage.picture(tab, name)
    response = Axe().run(tab, options=RULES).response
    assert len(response["passes"]) > 5, f"axe looked at nothing on {name}"
    found = response["violations"]
    wrong = [f"{name}: {violation['id']}: {node['target']} {node['failureSummary'].splitlines()[1].strip()}"
             for violation in found for node in violation["nodes"]]
    sideways = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
    return wrong + ([f"{name}: it scrolls sideways by {sideways} px"] if sideways > 0 else [])


def test_open_dialogs_have_no_violation(stage):
    """The viewer, the shortcuts, and the questions after a reveal and before Clear have no violation while they are open, on every
    screen and in both colour schemes."""
    scene, wrong = Scene(stage), []
    for view in VIEWS:
        for scheme in SCHEMES:
            tab = stage.open(view=view, scheme=scheme, cookies=scene.client.cookie)
            tab.goto(stage.url("/conversation", "family"))
            tab.locator("form.composer.live").wait_for()
            tab.keyboard.press("?")
            wrong += dialog(stage, tab, "help.main", f"shortcuts-{view}-{scheme}")
            tab.get_by_test_id("message.photo").last.click()
            wrong += dialog(stage, tab, "photo.main", f"viewer-{view}-{scheme}")
            tab.get_by_test_id("message.reveal").click()
            wrong += dialog(stage, tab, "ask.sheet", f"sheet-{view}-{scheme}")
            assert scene.client.post(f"/photo/{scene.hidden}/hide").status == 303
            tab.goto(stage.url("/storage"))
            tab.get_by_test_id("board.pause").wait_for()
            tab.get_by_test_id("storage.clear").click()
            wrong += dialog(stage, tab, "clear.sheet", f"clear-sheet-{view}-{scheme}")
    assert not wrong, "\n".join(wrong)


def dialog(stage, tab, name, picture):
    """The violations of an open dialog, which is closed afterwards."""
    tab.locator(f"dialog[open][data-test='{name}']").wait_for()
    found = violations(stage, tab, picture)
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
