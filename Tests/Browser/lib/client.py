"""Plain HTTP to the page: requests that no browser would make."""

import http.client
import secrets
import ssl
from urllib.parse import quote, urlsplit


class Answer:
    def __init__(self, response):
        self.status, self.headers = response.status, response.headers
        # A stream of events never ends; its first ones come at once.
        is_stream = response.headers["Content-Type"] == "text/event-stream"
        self.body = response.read1() if is_stream else response.read()

    @property
    def text(self):
        return self.body.decode()


class Client:
    """Asks 127.0.0.1, whatever the name and the certificate, with a session's cookie if there is one."""

    def __init__(self, origin, cookie=None):
        self.origin, self.cookie = origin, cookie
        self.address = urlsplit(origin).netloc
        self.port = urlsplit(origin).port

    def connection(self):
        if self.origin.startswith("https:"):
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=context)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def ask(self, method, path, body=None, host=None, **headers):
        """An underscore in the name of a header is a hyphen. POST is that of the page's own forms, unless `Origin` is
        given; None leaves it out."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if method != "GET":
            headers.setdefault("Origin", self.origin)
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
        if self.cookie:
            headers.setdefault("Cookie", self.cookie)
        connection = self.connection()
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", host or self.address)
        for name, value in headers.items():
            if value is not None:
                connection.putheader(name, value)
        if method != "GET":
            body = body.encode() if isinstance(body, str) else body or b""
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = Answer(connection.getresponse())
        connection.close()
        return answer

    def get(self, path, **options):
        return self.ask("GET", path, **options)

    def post(self, path, body=None, **options):
        return self.ask("POST", path, body, **options)

    def is_up(self):
        try:
            return self.get("/healthz").status == 204
        except OSError:
            return False

    def log_in(self, link):
        answer = self.post(urlsplit(link).path)
        assert answer.status == 303, f"{answer.status} {answer.text}"
        self.cookie = answer.headers["Set-Cookie"].split(";")[0]

    def key(self, conversation):
        """The key that the page gives to one composition."""
        page = self.get("/conversation?name=" + quote(conversation, safe="")).text
        return page.split('name="id" value="')[1].split('"')[0]

    def send(self, conversation, text=None, photos=(), key=None, **fields):
        """Posts the composer. `photos` are pairs of a file name and bytes."""
        fields = {"id": key or secrets.token_hex(8), "text": text or ""} | fields
        body, content_type = form(fields, photos)
        return self.post("/conversation?name=" + quote(conversation, safe=""), body, Content_Type=content_type)


def form(fields, photos=()):
    """A body of type multipart/form-data, as browsers write it."""
    boundary = "----" + secrets.token_hex(12)
    body = b""
    for name, value in fields.items():
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
    for name, contents in photos:
        name = name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="photo"; filename="{name}"\r\n'.encode()
        body += b"Content-Type: image/jpeg\r\n\r\n" + contents + b"\r\n"
    return body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"
