"""Who else may ask: other names of this computer, other web sites, other ports and sandboxed frames."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from routes import ask, routes
from scene import Scene

PAGE = b"""<!doctype html><title>elsewhere</title>
<iframe name=inner sandbox='allow-scripts allow-forms' srcdoc='<p>x'></iframe>"""


def test_another_host_is_misdirected(stage):
    """A request to another name, to no name or to another port is answered with 421, whatever it asks for."""
    stage.start_daemon()
    client = stage.client(stage.start_page())
    name, port = stage.address.split(":")
    for host in ["127.evil.com", "evil.example", f"evil.example:{port}", f"127.0.0.1:{port}", f"localhost:{port}", name,
                 f"{name}:{int(port) + 1}", f"{name}.:{port}", f"x{name}:{port}", f"{name}.evil.com:{port}",
                 f"127.0.0.1.evil.example:{port}", f"{name}:{port}@evil.example", " "]:
        for path in ["/", "/login/x", "/static/x/style.css", "/no/such"]:
            assert client.get(path, host=host).status == 421, f"{host} {path}"
        assert client.post("/logout", host=host).status == 421, host
    assert client.get("/").status == 200
    for request in [b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n", b"GET / HTTP/1.1\r\nHost:\r\n\r\n",
                    b"GET / HTTP/1.1\r\nHost: evil.example\r\nHost: " + stage.address.encode() + b"\r\n\r\n"]:
        status = raw(client.port, request, client.cookie)
        assert status == [421], f"{request}: {status}"


def test_a_request_names_one_host(stage):
    """A request with two names is refused, also with the page's own name twice."""
    stage.start_daemon()
    client = stage.client(stage.start_page())
    for name in ["evil.example", stage.address]:
        assert client.get("/", Host=name).status == 400, name
    assert client.get("/", host="evil.example", Host=stage.address).status in (400, 421)
    assert client.get("/").status == 200


def test_a_request_of_another_origin_is_refused(stage):
    """A request that another web page caused, by its headers, is answered with 403, on every route."""
    scene = Scene(stage)
    own = f"http://{stage.address}"
    name, port = stage.address.split(":")
    elsewhere = ["null", "http://evil.example", f"http://{name}:{int(port) + 1}", f"https://{stage.address}",
                 f"http://{name}", f"http://127.0.0.1:{port}", ""]
    headers = [{"Origin": origin} for origin in elsewhere]
    headers += [{"Origin": own, "Sec_Fetch_Site": site} for site in ["cross-site", "same-site", "none", "", "same-origin,x"]]
    headers += [{"Origin": None}]
    for route in routes(scene.hidden, "refused"):
        reading = route.method == "GET"
        for sent in headers:
            # A phone posts its shares itself.
            if (reading or route.path == "/share") and sent.get("Sec_Fetch_Site") == "none":
                continue
            if reading and sent["Origin"] is None:
                continue
            answer = ask(scene.client, route, **sent)
            assert answer.status == 403, f"{route.method} {route.path} {sent}: {answer.status}"
    unchanged(stage, scene)


def test_no_page_of_another_origin_reads_or_changes_anything(stage):
    """In a browser with a session, a page of another site, of another port of the same name, and a sandboxed frame neither
    change anything nor see a page or picture."""
    scene = Scene(stage)
    server = elsewhere(stage)
    name = stage.address.split(":")[0]
    for host in ["127.0.0.1", name]:
        origin = f"http://{host}:{server.server_port}"
        stage.elsewhere.append(origin)
        tab = stage.open(cookies=scene.client.cookie)
        # The session is good in this browser.
        assert tab.goto(stage.url("/")).status == 200
        tab.goto(origin)
        # The inner one first: the attack ends with a form that leads its frame away.
        for frame in reversed(tab.frames):
            attack(stage, scene, tab, frame, f"{origin} {frame.name}")
    # The browser tells why it shows no page of ours in a frame.
    stage.violations[:] = [violation for violation in stage.violations if "frame-ancestors" not in violation]
    unchanged(stage, scene)


def attack(stage, scene, tab, frame, where):
    answers = {}
    tab.on("response", lambda answer: answers.update({(answer.request.method, answer.url): answer.status}))
    for route in routes(scene.hidden, "refused") + routes(scene.own, "refused"):
        read = frame.evaluate("""async ([method, url, body]) => {
            const options = {method, body: method === 'GET' ? undefined : new URLSearchParams(body), credentials: 'include'}
            const opaque = await fetch(url, {...options, mode: 'no-cors'}).then(answer => answer.type, () => 'error')
            const open = await fetch(url, options).then(answer => answer.type, () => 'error')
            const image = new Image()
            await new Promise(done => { image.onload = image.onerror = done; image.src = url })
            return [opaque, open, image.naturalWidth]
        }""", [route.method, stage.url(route.path), route.body])
        assert read[0] in ("opaque", "error") and read[1:] == ["error", 0], f"{where} reads {route.path}: {read}"
    # A form leads the whole frame there.
    with tab.expect_response(lambda answer: "/conversation/hold" in answer.url and answer.request.is_navigation_request()):
        frame.evaluate("""url => {
            const form = document.createElement('form')
            Object.assign(form, {method: 'post', action: url})
            document.body.append(form)
            form.submit()
        }""", stage.url("/conversation/hold", "family"))
    ours = {asked: status for asked, status in answers.items() if stage.address in asked[1]}
    # The browser keeps the answers to all others even from us.
    assert set(ours.values()) == {403}, f"{where}: {ours}"


def unchanged(stage, scene):
    """Nothing of what was asked for was done."""
    assert stage.failed() == ["refused"]
    assert [message["request"] for message in stage.waiting()] == ["held"]
    assert stage.received()["hidden"]["hidden"] and not stage.received()["revealed"]["hidden"]
    assert "held" not in scene.client.get("/conversation?name=family").text.split("<main")[1].split("</header>")[0]
    assert scene.client.get("/").status == 200


def elsewhere(stage):
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(PAGE)))
            self.end_headers()
            self.wfile.write(PAGE)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def raw(port, request, cookie):
    """The status of the answer to these bytes, in a list; none if the connection was closed."""
    request = request.replace(b"\r\n\r\n", b"\r\nCookie: " + cookie.encode() + b"\r\nConnection: close\r\n\r\n")
    with socket.create_connection(("127.0.0.1", port), timeout=15) as connection:
        connection.sendall(request)
        answer = connection.makefile("rb").read()
    return [int(answer.split(b" ", 2)[1])] if answer else []
