"""The addresses of the page, and the rights that they need."""

import secrets
from dataclasses import dataclass

from client import form


@dataclass
class Route:
    method: str
    path: str
    # Any of these; none for a page that every session may open.
    rights: tuple = ()
    body: str = ""


def routes(photo, request, conversation="family"):
    """Every route that needs a session, for one photo, one failed request and one conversation."""
    name = f"?name={conversation}"
    return [
        Route("GET", "/"), Route("GET", f"/conversation{name}"), Route("POST", "/use"), Route("POST", "/unlock"),
        Route("GET", f"/conversation/settings{name}", ("see",)),
        Route("GET", f"/photo/{photo}", ("see",)),
        Route("GET", "/events?view=list", ("see",)), Route("POST", "/share", ("send",)),
        Route("GET", "/share/none", ("send",)), Route("POST", "/share/none", ("send",), "name=x"),
        Route("GET", "/sessions", ("operate",)), Route("POST", "/sessions/none/end", ("operate",)),
        *(Route("GET", f"/photo/{photo}/{part}", ("see",))
          for part in ["original", "thumbnail", "blurred", "original?save"]),
        *(Route("POST", f"/photo/{photo}/{act}", ("see",)) for act in ["reveal", "hide", "fetch"]),
        Route("POST", f"/conversation/prefs{name}", ("see",), "auto-reveal=off"),
        Route("POST", f"/conversation/date{name}", ("see",), "date=2026-01-01"),
        Route("POST", f"/conversation{name}", ("send",)),
        Route("POST", f"/draft{name}", ("send",)), Route("PUT", f"/draft/new/text{name}", ("send",), " "),
        *(Route(method, f"/draft/web-0-0{path}{name}", ("send",))
          for method, path in [("PUT", "/photo"), ("DELETE", "/photo"), ("POST", "/order"), ("POST", "/remove"),
                               ("DELETE", "")]),
        Route("POST", f"/conversation/hold{name}", ("operate",)),
        Route("POST", f"/conversation/release{name}", ("operate",)),
        Route("GET", "/queue", ("see",)), Route("GET", f"/request/{request}", ("see",)),
        Route("POST", "/queue/flush", ("operate",)), Route("GET", "/storage", ("see",)),
        Route("GET", f"/storage/clear{name}", ("operate",)), Route("POST", f"/storage/clear{name}", ("operate",)),
        Route("GET", f"/conversation/purge{name}", ("operate",)),
        Route("POST", f"/conversation/purge{name}", ("operate",), "confirm=no"),
        Route("GET", "/check", ("see",)), Route("POST", "/check", ("operate",)),
        Route("GET", "/metrics", ("see",)), Route("GET", "/metrics.txt", ("see",)),
        Route("GET", "/profile", ("see", "send")), Route("POST", "/profile", ("send",)),
        Route("POST", "/profile/remove?inbox=nobody", ("send",)),
        *(Route("POST", f"/queue/{act}?to=nobody", ("operate",), "count=1") for act in ["retry", "cancel"]),
        *(Route("POST", f"/queue/ticked/{act}", ("operate",), "request=nobody") for act in ["retry", "cancel"]),
        *(Route("POST", f"/request/{request}/{act}", ("operate",)) for act in ["cancel", "retry", "delete"]),
    ]


def ask(client, route, **options):
    """The answer to a route. What is sent to a conversation is one text."""
    if route.method == "POST" and route.path.startswith("/conversation?"):
        body, content_type = form({"id": secrets.token_hex(8), "text": "by a test"})
        return client.post(route.path, body, Content_Type=content_type, **options)
    return client.ask(route.method, route.path, route.body, **options)
