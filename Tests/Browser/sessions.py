"""Links and sessions: once, by one user, and no answer without one."""

import json
import os
import subprocess
import time
from urllib.parse import urlsplit

from clock import Clock
from photographs import photograph
from routes import ask, routes
from scene import Scene
from stage import until

# Asks as another user. Prints the status, and the cookie if there is one.
STRANGER = """
import http.client, sys
port, method, path, host, cookie = sys.argv[1:]
connection = http.client.HTTPConnection('127.0.0.1', int(port))
headers = {'Host': host, 'Origin': 'http://' + host, 'Content-Length': '0'}
connection.request(method, path, headers=headers | ({'Cookie': cookie} if cookie else {}))
answer = connection.getresponse()
print(answer.status, (answer.headers['Set-Cookie'] or '').split(';')[0])
"""


def test_every_route_wants_a_session(stage):
    """Without a session every route is answered with 401 and nothing else, pictures too; a wrong cookie is none."""
    scene = Scene(stage)
    name = scene.client.cookie.split("=")[0]
    secret = scene.client.cookie.split("=")[1]
    for cookie in [None, f"{name}=", f"{name}=" + "0" * 64, f"{name}=../sessions", f"{name}=%00", f"x={secret}"]:
        stranger = stage.client(cookie=cookie)
        for route in routes(scene.revealed, "refused"):
            answer = ask(stranger, route)
            assert answer.status == 401, f"{cookie} {route.method} {route.path}: {answer.status}"
            assert "family" not in answer.text and "anna" not in answer.text, answer.text
            assert "photospool web link" in answer.text
        assert stranger.post("/logout").status == 401
        assert stranger.get("/no/such/page").status in (401, 404)
        assert stranger.get("/healthz").body == b""
    assert stage.failed() == ["refused"], "a stranger changed something"


def test_a_link_opens_once(stage):
    """Looking at a link spends nothing, and its button opens one session. A second use is refused, and so is a code that
    never was."""
    stage.start_daemon()
    link = stage.start_page()
    path = urlsplit(link).path
    stranger = stage.client()
    for _ in range(3):
        assert stranger.get(path).status == 200
    tab = stage.open(link)
    assert tab.get_by_test_id("list.main").count() == 1
    cookie = tab.context.cookies()[0]
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and cookie["path"] == "/", cookie
    assert cookie["name"] == f"photospool-{stranger.port}"
    tab.goto(link)
    assert "used already" in tab.get_by_test_id("problem.sentence").inner_text()
    assert stranger.post(path).status == 410 and stranger.get(path).status == 410
    for code in ["0" * 32, "..", "%2e%2e%2fsessions", "x" * 1000, "%00"]:
        assert stranger.post(f"/login/{code}").status in (400, 404, 410), code
    assert link.rsplit("/", 1)[1] not in stage.text("web.err"), "the code is in the log"


def test_a_late_code_opens_nothing(stage):
    """Ten minutes after it was made, a link that nobody used is over."""
    clock = Clock(stage, "CLOCK_OFFSET")
    stage.start_daemon()
    stage.start_page()
    path, stranger = urlsplit(stage.link()).path, stage.client()
    for seconds, status in [(540, 200), (601, 410)]:
        clock.set(seconds)
        assert stranger.get(path).status == status, seconds
    assert stranger.post(path).status == 410
    assert stranger.get("/").status == 401


def test_logout_ends_the_session(stage):
    """Log out ends the session at the server, and empties the browser's cache."""
    tab = stage.log_in()
    cookie = "; ".join(f"{one['name']}={one['value']}" for one in tab.context.cookies())
    with tab.expect_response("**/logout") as answer:
        tab.get_by_test_id("foot.logout").click()
    assert '"cache"' in answer.value.all_headers()["clear-site-data"]
    assert "logged out" in tab.get_by_test_id("login.sentence").inner_text()
    assert tab.context.cookies() == []
    assert stage.client(cookie=cookie).get("/").status == 401
    stage.picture(tab, "logged-out")


def test_a_session_belongs_to_one_user(stage):
    """A cookie that another user of this computer sends is void, and stays good for its own user."""
    stage.start_daemon()
    link = stage.start_page()
    client = stage.client(link)
    assert as_stranger(stage, "GET", "/", client.cookie)[0] == 401
    assert as_stranger(stage, "POST", "/logout", client.cookie)[0] == 401
    assert client.get("/").status == 200
    # The same the other way round.
    status, cookie = as_stranger(stage, "POST", urlsplit(stage.link()).path)
    if status == 303:
        assert as_stranger(stage, "GET", "/", cookie)[0] == 200
        assert stage.client(cookie=cookie).get("/").status == 401
    else:
        assert status == 410, status


def test_a_page_that_is_only_open_does_not_use_its_session(stage):
    """News that come to a visible page by themselves are no use of its session. A key is, and so is the opening of a
    page. A session that ends meanwhile takes its page with it."""
    tab = stage.log_in()
    tab.goto(stage.url("/conversation", "family"))
    session = next((stage.spool / "state/web/sessions").iterdir())
    messages = tab.get_by_test_id("message")

    def rest(hours):
        os.utime(session, (time.time() - hours * 3600,) * 2)
        return session.stat().st_mtime

    def hears(number):
        stage.drop(f"news-{number}", "family", photos=[photograph(stage.directory, f"{number}.jpg", 300, 200 + number)])
        until(lambda: messages.count() == number and tab.locator(".timeline img").count() == number, "the page shows it")

    used = rest(2)
    hears(1)
    assert session.stat().st_mtime == used, "the page used it by itself"
    # Somebody who is there all the time is told of now and then.
    tab.evaluate("() => { const now = Date.now; Date.now = () => now() + 660_000 }")
    with tab.expect_response("**/use") as answer:
        tab.keyboard.press("Shift")
    assert answer.value.status == 204 and session.stat().st_mtime > used
    used = rest(2)
    tab.reload()
    assert session.stat().st_mtime > used, "a person has opened it"
    tab.locator("form.composer.live").wait_for()
    rest(8 * 24)
    stage.drop("late", "family", text="nobody sees this")
    tab.get_by_test_id("problem.main").wait_for()
    assert messages.count() == 0


def test_every_change_is_in_the_log(stage):
    """Each change is a line in the log with the name of its session. A deleted conversation is not named."""
    scene = Scene(stage)
    client = stage.client(stage.link("--name", "Anna, phone"))
    end = next(line for line in stage.run("web", "sessions", "--json").splitlines() if '"browser"' in line)
    for act, path, body in [
        ("hide", f"/photo/{scene.revealed}/hide", ""), ("reveal", f"/photo/{scene.revealed}/reveal", ""),
        ("fetch", f"/photo/{scene.offered}/fetch", ""), ("prefs", "/conversation/prefs?name=family", "auto-reveal=off"),
        ("hold", "/conversation/hold?name=family", ""), ("release", "/conversation/release?name=family", ""),
        ("cancel", "/request/held/cancel", ""), ("retry", "/queue/retry?to=family", "count=1"),
        ("flush", "/queue/flush", ""), ("clear", "/storage/clear?name=garden", ""), ("check", "/check", ""),
        ("delete", "/request/refused/delete", ""), ("profile-remove", "/profile/remove", ""),
        ("end", f"/sessions/{json.loads(end)['id']}/end", ""), ("purge", "/conversation/purge?name=family", "confirm=family"),
    ]:
        if act == "delete":
            until(lambda: stage.failed() == ["refused"], "it is refused again")
        before = len(changes(stage))
        answer = client.post(path, body)
        assert answer.status == 303, f"{act}: {answer.status} {answer.text}"
        told = until(lambda: changes(stage)[before:], f"{act} is told")
        assert len(told) == 1 and f" act={act} " in f"{told[0]} " and ' session="Anna, phone"' in told[0], f"{act}: {told}"
        assert act != "purge" or "family" not in told[0], told
    assert client.send("family", "once more").status == 303
    assert " act=send " in f"{changes(stage)[-1]} "


def changes(stage):
    return [line for line in stage.text("web.err").splitlines() if "event=web " in line]


def test_secrets_are_not_on_the_disk(stage):
    """Neither a link's code nor a session's secret is in the spool, and the files are for their owner alone."""
    stage.start_daemon()
    used = stage.start_page()
    code, client = stage.link().rsplit("/", 1)[1], stage.client(used)
    files = [path for path in (stage.spool / "state" / "web").rglob("*") if path.is_file()]
    assert len(files) >= 3
    for path in files:
        text = path.read_text() + path.name
        assert path.stat().st_mode & 0o077 == 0, path
        assert code not in text and client.cookie.split("=")[1] not in text, path


def as_stranger(stage, method, path, cookie=""):
    """Asks as the user 65534. Returns status and cookie."""
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    words = [*root, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", STRANGER]
    port = stage.address.split(":")[1]
    done = subprocess.run([*words, port, method, path, stage.address, cookie], capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stderr
    status, _, cookie = done.stdout.strip().partition(" ")
    return int(status), cookie
