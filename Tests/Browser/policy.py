"""The content security policy of the page."""

import re
from urllib.parse import urlsplit

from client import form
from scene import Scene

POLICY = {"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'",
          "form-action": "'self'", "base-uri": "'none'", "frame-ancestors": "'none'",
          "require-trusted-types-for": "'script'"}


def test_every_answer_has_the_policy(stage):
    """Every answer has the policy, forbids sniffing, framing and referrers, and what is private is not stored: pages, pictures,
    events, metrics, what a phone shares, answers to forms and scripts, refusals, and what is seen without a session."""
    scene = Scene(stage)
    client, stranger = scene.client, stage.client()
    link = urlsplit(stage.link()).path
    body, content_type = form({"text": "shared"})
    shared = client.post("/share", body, Content_Type=content_type)
    paths = [*scene.pages().values(), *scene.operating().values(), f"/photo/{scene.own}/original", f"/photo/{scene.own}/thumbnail",
             f"/photo/{scene.hidden}/blurred", "/events?view=list", "/metrics.txt", shared.headers["Location"], "/login/x",
             "/healthz", "/manifest.webmanifest", "/no/such/page"]
    answers = {path: (200, client.get(path)) for path in paths}
    answers |= {f"{path} of a stranger": (401, stranger.get(path)) for path in ["/", "/queue", "/events?view=list"]}
    answers |= {
        "link": (200, stranger.get(link)), "login": (303, stranger.post(link)), "spent": (410, stranger.get(link)),
        "share": (303, shared), "reading for a script": (404, client.get("/photo/nothing", Accept="text/vnd.photospool.fragment")),
        "draft": (200, client.post("/draft?name=family", Accept="text/vnd.photospool.fragment")),
        "flush": (303, client.post("/queue/flush")), "unlock": (401, stranger.post("/unlock", "password=x")),
        "elsewhere": (403, client.post("/queue/flush", Origin="http://evil.example")),
        "other name": (421, client.get("/", host="evil.example")), "logout": (200, client.post("/logout"))}
    for name, (status, answer) in answers.items():
        assert answer.status == status or status == 200 and answer.status in (204, 404, 410), f"{name}: {answer.status}"
        expect_policy(answer.headers, name)


def expect_policy(headers, name):
    """The headers of an answer that is private, or that nobody gains from keeping."""
    headers = {field.lower(): value for field, value in headers.items()}
    policy = headers["content-security-policy"]
    if headers.get("content-type") == "image/jpeg":
        assert policy == "sandbox; default-src 'none'", f"{name}: {policy}"
    else:
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        assert POLICY.items() <= rules.items(), f"{name}: {policy}"
        assert "unsafe" not in policy and "data:" not in policy, f"{name}: {policy}"
    wanted = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store",
              "cross-origin-resource-policy": "same-origin", "cross-origin-opener-policy": "same-origin"}
    assert wanted.items() <= headers.items(), f"{name}: {headers}"
    assert "access-control-allow-origin" not in headers, name


def test_an_inline_script_does_not_run(stage):
    """A script that somebody got into a page does not run: neither inline, nor in an attribute, nor from elsewhere."""
    tab = stage.log_in()

    def inject(route):
        answer = stage.client(cookie=cookie(tab)).get("/")
        body = answer.text.replace("</main>", """<script>document.title = 'broken'</script>
            <img src=x onerror="document.title = 'broken'"><svg onload="document.title = 'broken'"></svg>
            <script src="http://127.0.0.1:9/x.js"></script><style>body { color: rgb(1, 2, 3) }</style></main>""")
        assert "broken" in body
        route.fulfill(status=200, headers=dict(answer.headers), body=body)

    tab.route(stage.url("/"), inject)
    tab.goto(stage.url("/"))
    assert tab.title() != "broken"
    assert tab.locator("body").evaluate("body => getComputedStyle(body).color") != "rgb(1, 2, 3)"
    assert len(stage.violations) >= 4, stage.violations
    blocked = tab.evaluate("""() => { try { document.body.innerHTML = '<b>x</b>'; return false } catch { return true } }""")
    assert blocked, "the policy lets a script write markup"
    # They were wanted here, and the request to another host was not made.
    stage.violations.clear()
    stage.requests[:] = [url for url in stage.requests if not url.startswith("http://127.0.0.1:9/")]


def test_only_static_files_may_be_kept(stage):
    """Static files may be kept for ever, since their address changes with their contents."""
    stage.start_daemon()
    client = stage.client(stage.start_page())
    page = client.get("/").text
    path = page.split('rel="stylesheet" href="')[1].split('"')[0]
    answer = stage.client().get(path)
    assert answer.status == 200 and "immutable" in answer.headers["Cache-Control"]
    assert answer.headers["Content-Type"].startswith("text/css")
    assert stage.client().get("/static/0/style.css").status == 404


def test_a_first_page_is_light(stage):
    """A page without its photos has at most 40 KiB of HTML, 16 KiB of style and 40 KiB of script; the list has 12 KiB of style.
    With the script come 4 KiB of style. Modules name one another; all of it may be kept for ever."""
    scene = Scene(stage)
    page = scene.client.get("/conversation?name=family").text
    path = page.split('<script type="module" src="')[1].split('"')[0]
    todo, modules = [path], {}
    while todo:
        path = todo.pop()
        answer = stage.client().get(path)
        assert answer.status == 200 and "immutable" in answer.headers["Cache-Control"], path
        assert answer.headers["Content-Type"].startswith("text/javascript"), path
        modules[path] = answer.text
        named = {f"{path.rsplit('/', 1)[0]}/{name}" for name in re.findall(r"from '\./(.*?)'", answer.text)}
        todo += named - modules.keys()
    script = sum(len(text.encode()) for text in modules.values())
    assert page.count("<script") == 1
    talk, live = style(stage, page)
    first, none = style(stage, scene.client.get("/").text)
    print(f"html {len(page.encode())} style {talk}, of the script {live}, of the list {first}; script {script} bytes")
    assert len(page.encode()) <= 40_960 and talk <= 16_384 and live <= 4_096 and script <= 40_960
    assert first <= 12_288 and none == 0


def style(stage, page):
    """Bytes of a page's style sheets: those for everybody, and those for the script."""
    links = re.findall(r'<link rel="stylesheet" href="(.*?)"(.*?)>', page)
    sizes = [(len(stage.client().get(path).body), "scripting" in condition) for path, condition in links]
    return [sum(size for size, is_live in sizes if is_live == wanted) for wanted in (False, True)]


def cookie(tab):
    return "; ".join(f"{one['name']}={one['value']}" for one in tab.context.cookies())
