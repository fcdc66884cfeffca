"""Photos on slow and cut lines: from the browser to the page, and from the daemon to the store."""

import time

from PIL import Image

from composer import begin, large_png
from drafts import objects
from line import Line
from photographs import photograph
from stage import until


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
    tab.get_by_test_id("composer.text").fill("after the cut")
    tab.get_by_test_id("composer.send").click()
    line.open()
    stage.start_page("--port", port)
    until(lambda: stage.are_sent(2), "it is sent")
    tab.get_by_test_id("page.cut").wait_for(state="detached")
    assert stage.texts("family") == ["photo", "after the cut"] and stage.sent() == 1
    until(lambda: "Sent" in tab.get_by_test_id("message.meta").last.inner_text(), "the page says so")


def test_a_slow_store_shows_its_progress_and_is_cancelled(stage):
    """While a store takes a photo slowly, its percentage rises in steps of its own. Cancel says what was too late and what was
    not; what it confirmed is never published."""
    server = stage.object_server()
    server.slow_down(50_000)
    for file in ("key", "secret"):
        (stage.directory / file).write_text("x" * 20)
        (stage.directory / file).chmod(0o600)
    stage.configure(f"""store:
  type: s3
  endpoint: {server.endpoint}
  bucket: photos
  accessKeyFile: {stage.directory / "key"}
  secretKeyFile: {stage.directory / "secret"}
""")
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
    tab.get_by_test_id("composer.text").fill("with two photos")
    tab.get_by_test_id("composer.send").click()
    until(lambda: len(stage.published("family")) == 1, "the first photo is published")
    until(lambda: len(set(tab.evaluate("steps"))) >= 5, "its percentage rises", 60)
    steps = [int(step) for step in tab.evaluate("steps")]
    begun = time.monotonic()
    tab.get_by_test_id("message.cancel").first.click()
    tab.get_by_test_id("page.said").wait_for()
    print(f"steps {steps}, cancelled within {1000 * (time.monotonic() - begun):.0f} ms: {said(tab)}")
    until(lambda: not stage.waiting(), "nothing waits")
    until(lambda: tab.get_by_test_id("message.cancel").count() == 0, "nothing can be cancelled any more")
    assert len(stage.published("family")) == 1 and stage.texts("family") == ["photo"]
    assert "Cancelled" in tab.get_by_test_id("message.meta").last.inner_text()


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
