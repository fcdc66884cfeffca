"""Photos on slow and cut lines: from the browser to the page, and from the daemon to the store."""

import time
from urllib.parse import urlsplit

from PIL import Image

from composer import begin, large_png
from drafts import objects
from line import Line
from photographs import photograph
from stage import say, until


def test_a_photo_is_removed_while_it_uploads(stage):
    """The second of three photos is removed while the browser uploads it. It is gone from the tray at once, and never in the draft
    or the store; the others are."""
    tab = begin(stage)
    photos = [photograph(stage.directory, "one.jpg", 300, 200), large_png(stage),
              photograph(stage.directory, "three.jpg", 300, 201)]
    line = Line(tab, 400_000)
    tab.get_by_test_id("composer.photos").set_input_files(photos)
    second = tab.get_by_test_id("composer.photo").nth(1)
    until(lambda: 0 < share(second) < 40, "it is being uploaded")
    second.get_by_test_id("composer.remove").click()
    assert tab.get_by_test_id("composer.photo").locator("bdi").all_inner_texts() == ["one.jpg", "three.jpg"]
    begun = time.monotonic()
    until(lambda: [path.name for path in (stage.spool / "tmp").iterdir()] == [".order"], "its part is gone from the spool")
    print(f"gone from tmp/ {1000 * (time.monotonic() - begun):.0f} ms after the click")
    line.open()
    until(lambda: objects(stage) == 2, "the others are in the store")
    until(lambda: tab.locator(".thumbs .done").count() == 2, "the page says so")
    draft = next((stage.spool / "draft").iterdir())
    assert len(list(draft.glob("photo*"))) == 2 and objects(stage) == 2
    assert "level=error" not in stage.text("web.err"), stage.text("web.err")


def test_a_line_that_is_cut_in_an_upload_is_waited_for(stage):
    """The page's program is killed while a photo is uploaded. A banner says so; when it is back, the upload goes on by itself,
    and it is one message."""
    tab = begin(stage)
    line = Line(tab, 400_000)
    tab.get_by_test_id("composer.photos").set_input_files([large_png(stage)])
    until(lambda: 0 < share(tab.get_by_test_id("composer.photo")) < 40, "it is being uploaded")
    port = stage.address.rsplit(":", 1)[1]
    stage.web.kill()
    stage.web.wait()
    tab.get_by_test_id("page.cut").wait_for()
    say(tab, "after the cut")
    line.open()
    stage.start_page("--port", port)
    until(lambda: stage.are_sent(2), "it is sent")
    tab.get_by_test_id("page.cut").wait_for(state="detached")
    until(lambda: stage.sent() == 1, "its receipt is written")
    assert stage.texts("family") == ["photo", "after the cut"]
    until(lambda: "Sent" in tab.get_by_test_id("message.meta").last.inner_text(), "the page says so")


def test_a_slow_store_shows_its_progress_and_is_cancelled(stage):
    """While a store takes a photo slowly, its percentage rises in steps of its own. Cancel says what was too late and what was
    not; what it confirmed is never published."""
    store(stage).slow_down(50_000)
    tab = begin(stage)
    tab.evaluate("""() => {
        window.steps = []
        new MutationObserver(() => {
            for (const state of document.querySelectorAll('[data-test="message.state"]')) {
                const percent = /Uploading, (\\d+) %/.exec(state.textContent)?.[1]
                if (percent && percent !== steps.at(-1)) steps.push(percent)
            }
        }).observe(document.body, {subtree: true, childList: true, characterData: true})
    }""")
    photos = [photograph(stage.directory, "small.jpg", 90, 60), grain(stage)]
    tab.get_by_test_id("composer.photos").set_input_files(photos)
    say(tab, "with two photos")
    until(lambda: len(stage.published("family")) == 1, "the first photo is published")
    until(lambda: len(set(tab.evaluate("steps"))) >= 10, "its percentage rises", 60)
    steps = [int(step) for step in tab.evaluate("steps")]
    tab.evaluate("""() => {
        let begun
        addEventListener('click', () => begun ??= performance.now(), {capture: true})
        new MutationObserver(() => {
            if (document.querySelector('[data-test="page.said"]')?.textContent) window.cancelled ??= performance.now() - begun
        }).observe(document.body, {subtree: true, childList: true, characterData: true})
    }""")
    tab.get_by_test_id("message.cancel").first.click()
    until(lambda: tab.evaluate("window.cancelled"), "the page says how it went")
    print(f"steps {steps}, cancelled within {tab.evaluate('cancelled'):.0f} ms: {said(tab)}")
    until(lambda: not stage.waiting(), "nothing waits")
    until(lambda: tab.get_by_test_id("message.cancel").count() == 0, "nothing can be cancelled any more")
    assert len(stage.published("family")) == 1 and stage.texts("family") == ["photo"]
    assert "Cancelled" in tab.get_by_test_id("message.meta").last.inner_text()


def test_photos_that_arrive_out_of_order_are_stored_once(stage):
    """The first photo is large, so the second one arrives before it. Send does not wait for either. Each is stored once, and both
    are published in the order of the tray."""
    server = store(stage)
    tab = begin(stage)
    line = Line(tab, 1_000_000)
    tab.get_by_test_id("composer.photos").set_input_files(
        [large_png(stage), photograph(stage.directory, "small.jpg", 300, 200)])
    until(lambda: server.puts, "the small one is in the store")
    tab.get_by_test_id("composer.send").click()
    line.open()
    until(lambda: stage.are_sent(2), "they are sent")
    widths = [published["attachment"]["width"] for published in stage.published("family")]
    assert widths[0] > widths[1] == 300, widths
    assert len(server.puts) == 2, server.puts


def test_an_upload_whose_answer_is_lost_is_one_photo(stage):
    """The answer to an upload is lost, and the page uploads the photo again. It is in the draft once."""
    tab = begin(stage)
    client, lost = stage.client(stage.link()), []
    photo = photograph(stage.directory, "one.jpg", 300, 200)

    def lose(route):
        if not lost:
            path = urlsplit(route.request.url)
            lost.append(client.ask("PUT", f"{path.path}?{path.query}", photo.read_bytes()).status)
            return route.abort()
        return route.fallback()

    tab.route("**/draft/new/photo?*", lose)
    tab.get_by_test_id("composer.photos").set_input_files(photo)
    until(lambda: tab.locator(".thumbs .done").count() == 1, "it is uploaded")
    assert lost == [201], lost
    tab.get_by_test_id("composer.send").click()
    until(lambda: stage.are_sent(1), "it is sent")


def test_a_page_that_was_asked_for_before_a_removal_does_not_undo_it(stage):
    """A page is asked for, a photo is removed from the tray, and then the page comes. The photo does not come back."""
    tab = begin(stage)
    tab.get_by_test_id("composer.photos").set_input_files(
        [photograph(stage.directory, f"{number}.jpg", 300 + number, 200) for number in range(2)])
    until(lambda: tab.locator(".thumbs .done").count() == 2, "both are uploaded")
    held, client = [], stage.client(stage.link())

    def hold(route):
        if held or route.request.method != "GET":
            return route.fallback()
        held.append((route, client.get("/conversation?name=family", Accept=route.request.headers["accept"])))

    tab.route("**/conversation?name=family", hold)
    stage.drop("news", "family", text="news")
    until(lambda: tab.evaluate("1") and held, "a page is asked for")
    tab.get_by_test_id("composer.remove").first.click()
    draft = next((stage.spool / "draft").iterdir())
    until(lambda: tab.evaluate("1") and len(list(draft.glob("photo*"))) == 1, "it is removed")
    tab.evaluate("""() => {
        const tray = document.querySelector('[data-test="composer.tray"]')
        window.most = tray.children.length
        new MutationObserver(() => window.most = Math.max(window.most, tray.children.length)).observe(tray, {childList: true})
    }""")
    route, answer = held[0]
    route.fulfill(status=200, headers=dict(answer.headers), body=answer.body)
    until(lambda: tab.get_by_test_id("message").count() == 1, "a newer page is shown")
    assert tab.evaluate("most") == 1 and tab.get_by_test_id("composer.photo").count() == 1


def test_pictures_of_this_browser_are_let_go(stage):
    """A photo is removed, one is cancelled, and one is sent. Then the page holds no picture of them in memory."""
    tab = begin(stage)
    tab.evaluate("""() => {
        window.held = new Set()
        const [make, release] = [URL.createObjectURL, URL.revokeObjectURL]
        URL.createObjectURL = file => {
            const address = make.call(URL, file)
            held.add(address)
            return address
        }
        URL.revokeObjectURL = address => held.delete(address) && release.call(URL, address)
    }""")
    photo = photograph(stage.directory, "one.jpg", 300, 200)
    photos, send = tab.get_by_test_id("composer.photos"), tab.get_by_test_id("composer.send")
    tab.context.set_offline(True)
    for button in ("composer.remove", "message.cancel"):
        photos.set_input_files(photo)
        assert tab.evaluate("held.size") == 1
        if button == "message.cancel":
            send.click()
        tab.get_by_test_id(button).click()
        tab.context.set_offline(False)
        until(lambda: tab.evaluate("held.size") == 0, "it is let go")
        tab.context.set_offline(True)
    tab.context.set_offline(False)
    photos.set_input_files(photo)
    send.click()
    until(lambda: stage.are_sent(1), "it is sent")
    until(lambda: tab.evaluate("held.size") == 0, "it is let go")


def store(stage, settings=""):
    """Has an S3 service for a store, and these other settings. Returns it."""
    server = stage.object_server()
    for file in ("key", "secret"):
        (stage.directory / file).write_text("x" * 20)
        (stage.directory / file).chmod(0o600)
    stage.configure(f"""store:
  type: s3
  endpoint: {server.endpoint}
  bucket: photos
  accessKeyFile: {stage.directory / "key"}
  secretKeyFile: {stage.directory / "secret"}
{settings}""")
    return server


def grain(stage):
    """A photo of nearly 1 MB, which is sent as it is."""
    path = stage.directory / "grain.jpg"
    Image.effect_noise((1500, 1000), 60).convert("RGB").save(path, quality=75)
    assert 600_000 < path.stat().st_size < 1_000_000, path.stat().st_size
    return path


def said(tab):
    return tab.get_by_test_id("page.said").inner_text()


def share(photo):
    return photo.locator("progress").evaluate("bar => bar.value")
