"""Hostile strings on the pages for who looks after the system, and in every address and field."""

import json
from urllib.parse import quote

from client import form
from naughty import NAUGHTY, STRANGE
from photographs import photograph
from stage import press, until

# Those that differ in what an address, a file name, a header or a query makes of them.
FEW = ["<script>1</script>", "\"><svg onload=1>", "\"\u0301 x=", "../../etc/passwd", "..", "a/b?c=d&e=f#g",
       "%2e%2e%2f%00%0d%0aSet-Cookie:x=1", "\r\nSet-Cookie: x=1", "\0", "a\nb", "%", "+ +", "a\u202egpj.exe", "\ufeff",
       "\u00e9" * 127, "x" * 255, "x" * 3000, "' OR 1=1 --", "-1", "9" * 30, "is:failed to:", "//evil.example/", "new",
       "profile~", "{{text}}", "\udcff".encode("utf-8", "surrogateescape")]


def test_the_operators_pages_show_hostile_strings_as_text(stage):
    """Names of conversations, inboxes, files and links, errors and filters are text on the queue, on requests, on storage,
    checks, metrics, sessions and profiles, and where something is cleared, deleted or shared."""
    stage.program_as_network()
    (stage.directory / "network").write_text(
        "#!/bin/sh\nprintf '%s\\n' '\"><img src=x onerror=\"1\"> <script>1</script>' >&2; exit 65\n")
    stage.start_daemon()
    client = stage.client(stage.start_page())
    photo = photograph(stage.directory, "1.jpg", 60, 40).read_bytes()
    for number, name in enumerate(NAUGHTY[:24]):
        client.send(name, "hello", [(name, photo)])
        if 0 < len(name.encode()) <= 100 and number % 4 == 0 and "\n" not in name:
            stage.drop(f"from-{number}", "family", text="hello", sender=name)
            stage.run("web", "link", "--name", name)
    until(lambda: not stage.waiting() and len(stage.failed()) > 20, "all are refused")
    tab = stage.open(cookies=client.cookie)
    body, content_type = form({"text": "shared"}, [])
    shared = client.post("/share", body, Content_Type=content_type).headers["Location"]
    tab.goto(stage.url("/check"))
    press(tab, "check.now")
    tab.get_by_test_id("check.outcome").first.wait_for()
    names = [quote(name) for name in NAUGHTY[:14:2]]
    paths = ["/check", "/queue", "/storage", "/storage/clear", "/metrics", "/sessions", "/profile", shared]
    paths += [f"/request/{quote(name)}" for name in stage.failed()[::5]]
    for name in names:
        paths += [f"/queue?q={name}", f"/queue?to={name}", f"/storage/clear?name={name}", f"/profile?inbox={name}",
                  f"/conversation/purge?name={name}"]
    for path in paths:
        tab.goto(stage.url(path))
        strange = tab.evaluate(STRANGE)
        assert not strange, f"{path}: {strange}"
    tab.goto(stage.url("/queue"))
    assert "<script>1</script>" in tab.get_by_test_id("queue.main").inner_text()
    stage.picture(tab, "queue-hostile")


def test_hostile_addresses_and_fields_are_refused_or_taken_as_they_are(stage):
    """A hostile string in any part of an address or field is no error of the page, sets no header, and reaches no file
    outside the spool."""
    stage.start_daemon()
    client = stage.client(stage.start_page())
    wrong, count = [], 0
    for text in FEW:
        value, plain = quote(text, safe=""), text if isinstance(text, bytes) else text.encode()
        for method, path, body in asked(value, plain):
            answer = client.ask(method, path, body)
            count += 1
            place = answer.headers["Location"] or "/"
            if (answer.status >= 500 or "x=1" in (answer.headers["Set-Cookie"] or "") or place[:1] != "/"
                    or place[:2] == "//" or b"root:" in answer.body):
                wrong.append(f"{method} {path[:120]}: {answer.status} {answer.headers['Set-Cookie']} {place[:80]} "
                             f"{answer.body[-200:] if answer.status >= 500 else b''}")
            if "json" in (answer.headers["Content-Type"] or ""):
                json.loads(answer.body)
    assert not wrong, "\n".join(wrong)
    assert count > 900 and client.get("/").status == 200
    outside = [path for path in stage.directory.rglob("*") if path.name in ("passwd", "x", "evil.example")]
    assert not outside, outside


def asked(value, plain):
    """Methods, paths and bodies with a string, in an address and as it is. None of them ends the session."""
    field = f"name={value}&inbox={value}&count={value}&back={value}&confirm={value}&text={value}"
    for path in [
        f"/?filter={value}", f"/?after={value}", f"/conversation?name={value}", f"/conversation?name=a&before={value}",
        f"/conversation?name=a&after={value}", f"/conversation?name=a&at={value}", f"/conversation/settings?name={value}",
        f"/photo/{value}", f"/photo/{value}/original", f"/photo/x/{value}", f"/queue?q={value}", f"/queue?to={value}",
        f"/queue?state={value}", f"/queue?cause={value}", f"/queue?after={value}", f"/queue?done={value}", f"/request/{value}",
        f"/storage/clear?name={value}&inbox={value}", f"/conversation/purge?name={value}", f"/metrics?days={value}",
        f"/profile?inbox={value}", f"/share/{value}", f"/events?view=conversation:{value}", f"/events?view={value}",
        f"/static/{value}/{value}", f"/login/{value}", f"/{value}", f"/check?{value}",
    ]:
        yield "GET", path, b""
    for path in [
        f"/photo/{value}/reveal", f"/photo/x/{value}", f"/request/{value}/retry", f"/request/{value}/cancel",
        f"/request/x/{value}", f"/queue/retry?q={value}", f"/queue/cancel?to={value}", f"/conversation/hold?name={value}",
        f"/conversation/release?name={value}", f"/conversation/prefs?name={value}", f"/conversation/purge?name={value}",
        f"/sessions/{value}/end", f"/share/{value}", f"/login/{value}", f"/draft/{value}/order", f"/draft?name={value}",
        f"/conversation?name={value}", "/share", "/profile", f"/unlock?{value}",
    ]:
        yield "POST", path, field
    yield "PUT", f"/draft/{value}/photo?name=a&file={value}", plain or b"x"
    yield "DELETE", f"/draft/{value}/photo?file={value}", b""
    yield "DELETE", f"/draft/web-0/photo?file={value}", b""
    yield "POST", f"/draft/{value}/order", plain
    yield "PUT", f"/draft/{value}/text?name={value}", plain
    yield "DELETE", f"/draft/{value}", b""
