"""The page for other computers: by TLS. Another address of this computer stands for another computer."""

import json
import os
import subprocess
import time

from accessibility import looks
from photographs import photograph
from policy import expect_policy
from programs import free_port
from stage import VIEWS, enter, size, until


def test_a_phone_sends_sees_and_shares_a_photo_by_tls(stage):
    """A phone opens its link by https, with HTTP/2 and a cookie that no other host gets. The page can be installed and shared with
    there. A photo is sent and seen, and the viewer gives its bytes to the phone's other programs, or says that it cannot."""
    tab = stage.open(start(stage), view="phone", ignore_https_errors=True)
    assert tab.evaluate("[isSecureContext, performance.getEntriesByType('navigation')[0].nextHopProtocol]") == [True, "h2"]
    cookie = tab.context.cookies()[0]
    assert cookie["name"].startswith("__Host-photospool-") and cookie["secure"] and cookie["httpOnly"], cookie
    manifest = tab.context.new_cdp_session(tab).send("Page.getAppManifest")
    assert not manifest["errors"] and json.loads(manifest["data"])["share_target"]["method"] == "POST", manifest
    # Chromium on Linux has nobody to share with.
    tab.add_init_script("""
        navigator.canShare = ({files}) => files.length === 1
        navigator.share = async ({files}) => {
            if (window.given) throw new TypeError('nobody takes it')
            window.given = [files[0].name, files[0].type, ...new Uint8Array(await files[0].arrayBuffer())]
        }
    """)
    tab.goto(stage.url("/conversation", "family"))
    tab.get_by_test_id("composer.photos").set_input_files(photograph(stage.directory, "one.jpg", 900, 600))
    tab.get_by_test_id("composer.send").click()
    until(lambda: stage.are_sent(1), "it is sent")
    until(lambda: "Sent" in tab.get_by_test_id("message.meta").inner_text(), "the page says so")
    photo = tab.get_by_test_id("message.photo").locator("img")
    assert size(photo) == [900, 600]
    photo.click()
    tab.get_by_test_id("photo.share").click()
    original = next((stage.spool / "photos").rglob("original.jpg")).read_bytes()
    given = until(lambda: tab.evaluate("window.given"), "it is shared")
    assert given[:2] == ["photo.jpg", "image/jpeg"] and bytes(given[2:]) == original
    tab.get_by_test_id("photo.share").click()
    until(lambda: "Save it instead" in tab.get_by_test_id("page.said").inner_text(), "the page says why not")


def test_a_session_that_rested_asks_for_its_password(stage):
    """A session of another computer with a password is locked after 12 hours without use, on an open page, too. A wrong password
    is refused, and the right one opens the page, by keyboard alone. The lock has no violation."""
    tab = stage.open(start(stage, "--name", "phone"), ignore_https_errors=True)
    session = next(line for line in map(json.loads, stage.run("web", "sessions", "--json").splitlines())
                   if line["name"] == "phone" and line["kind"] == "session")
    subprocess.run([*stage.program, "web", "password", session["id"]], env=stage.environment, cwd=stage.directory,
                   input="correct horse\n", text=True, check=True)
    tab.goto(stage.url("/conversation", "family"))
    with tab.expect_response(lambda answer: answer.status == 401 and answer.request.is_navigation_request()) as lock:
        for file in (stage.spool / "state/web/sessions").iterdir():
            os.utime(file, (time.time() - 13 * 3600,) * 2)
    expect_policy(lock.value.all_headers(), "the lock")
    tab.get_by_test_id("unlock.password").wait_for()
    wrong = []
    for view in VIEWS:
        wrong += looks(stage, tab, f"unlock-{view}", view)
    assert not wrong, "\n".join(wrong)
    for password, sentence in [("wrong horse", "The password is wrong"), ("correct horse", None)]:
        tab.get_by_test_id("unlock.password").focus()
        tab.keyboard.type(password)
        enter(tab)
        assert tab.get_by_test_id("unlock.sentence").all_inner_texts() == ([sentence + "."] if sentence else [])
    tab.goto(stage.url("/conversation", "family"))
    assert tab.get_by_test_id("composer.form").count() == 1


def start(stage, *options):
    """A daemon, and a page with a certificate of its own. Returns its link."""
    port = free_port()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=photos", "-addext", "subjectAltName=IP:127.0.0.2", "-keyout", "key.pem", "-out", "page.pem"],
                   cwd=stage.directory, check=True, capture_output=True)
    (stage.directory / "key.pem").chmod(0o600)
    files = f"certificate: {stage.directory}/page.pem, key: {stage.directory}/key.pem"
    stage.configure(f"web: {{{files}, names: '127.0.0.2:{port}'}}\n")
    stage.start_daemon()
    return stage.start_page("--address", "0.0.0.0", "--port", str(port), *options)
