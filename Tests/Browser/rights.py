"""Sessions may do what their link says, and no more."""

import itertools

from photographs import photograph
from routes import ask, routes
from scene import Scene
from stage import until

RIGHTS = ["see", "send", "operate"]


def test_every_route_asks_for_its_right(stage):
    """Every route is refused with 403 to every kind of session without its right, and to no other; `see` cannot send, `send`
    cannot see or operate."""
    scene, wrong = Scene(stage), []
    for rights in (kind for count in (1, 2, 3) for kind in itertools.combinations(RIGHTS, count)):
        client = stage.client(stage.link("--may", ",".join(rights)))
        # The conversation of the routes is empty, so that their order does not matter. To delete the request would.
        for route in routes(scene.revealed, "refused", "empty"):
            may = not route.rights or set(route.rights) & set(rights)
            if may and "/request/" in route.path:
                route.path = route.path.replace("refused", "nothing")
            answer = ask(client, route)
            if (answer.status == 403) == bool(may):
                wrong.append(f"{','.join(rights)}: {route.method} {route.path}: {answer.status}")
    assert not wrong, "\n".join(wrong)
    assert "refused" in stage.failed()


def test_a_session_that_may_send_sees_nothing(stage):
    """A session that may send and not see gets the composer, and no name, text, sender or picture."""
    scene = Scene(stage)
    client = stage.client(stage.link("--may", "send"))
    for path in scene.pages().values():
        text = client.get(path).text
        assert "anna" not in text and scene.own not in text and "garden" not in text.replace("name=garden", "").replace(
            'title="garden"', "").replace('data-name="garden"', "").replace("garden</bdi>", "").replace("garden · ", ""), path
        assert "<img" not in text, path
    assert client.send("family", "sent by it").status == 303
    until(lambda: any(line.get("text") == "sent by it" for line in stage.lines()) or "family" in str(stage.failed()) or
          len(stage.failed()) == 2, "it is taken")
    tab = stage.open(stage.link("--may", "send"))
    stage.picture(tab, "send-only-list")
    tab.goto(stage.url("/conversation", "family"))
    assert tab.get_by_test_id("message").count() == 0 and tab.get_by_test_id("composer.form").count() == 1
    stage.picture(tab, "send-only-conversation")


def test_a_session_that_may_see_cannot_change(stage):
    """A session that may only see has no composer and no button that it may not press."""
    scene = Scene(stage)
    tab = stage.open(stage.link("--may", "see"))
    for path in ["/", "/conversation?name=family", "/conversation?name=garden", "/conversation/settings?name=garden"]:
        tab.goto(stage.url(path))
        for name in ["composer.form", "list.new", "message.retry", "message.delete", "message.cancel", "settings.hold",
                     "settings.release"]:
            assert tab.get_by_test_id(name).count() == 0, f"{path}: {name}"
    tab.goto(stage.url("/conversation", "family"))
    assert tab.get_by_test_id("message").count() > 5
    assert tab.locator(f"[id='{scene.hidden}']").count() == 1


def test_a_sender_changes_only_its_own_requests(stage):
    """A session that may send retries, cancels and deletes what its link sent, and nothing else; `operate` may, too."""
    scene = Scene(stage)
    sender, other = (stage.client(stage.link("--may", "see,send")) for _ in range(2))
    before = set(stage.failed())
    assert sender.send("family", "refused, too", key=sender.key("family")).status == 303
    own = until(lambda: set(stage.failed()) - before, "it is refused").pop()
    for client, request, expected in [(sender, "refused", 403), (other, own, 403), (sender, own, 303)]:
        for act in ["cancel", "retry", "delete"]:
            if expected == 303 and act != "retry":
                continue
            answer = client.post(f"/request/{request}/{act}")
            assert answer.status == expected, f"{request} {act}: {answer.status}"
    until(lambda: own in stage.failed(), "it is refused again")
    assert scene.client.post("/request/refused/delete").status == 303
    assert "refused" not in stage.failed()


def test_a_session_of_one_inbox_never_sees_another(stage):
    """A session of the inbox `anna` sends as anna. It sees neither conversations nor photos, requests or numbers of
    `berta`, on any route."""
    server = stage.start_receiving()
    link = stage.start_page("--inbox", "anna")
    photo = photograph(stage.directory, "1.jpg", 600, 400)
    stage.drop("of-anna", "shared", text="of anna", photos=[photo], sender="anna")
    stage.drop("of-berta", "shared", text="of berta", photos=[photo], sender="berta")
    stage.drop("secret", "only-berta", photos=[photo], sender="berta")
    stage.receive(server, "for-berta", "for-berta", photo, sender="@zoe:example.org", inbox="berta")
    stage.wait_for_state("for-berta", "offered")
    until(lambda: stage.are_sent(4, "shared") and stage.published("only-berta"), "all is published")
    received = stage.received()["for-berta"]["message"]
    hers = [line["message"] for name in ("shared", "only-berta") for line in stage.published(name)
            if line["inbox"] == "berta"]
    assert len(hers) == 3, hers
    anna, everybody = stage.client(link), stage.client(stage.link())
    for photo in [*hers, received]:
        for route in routes(photo, "of-berta", "only-berta"):
            if route.rights == ("send",):
                continue
            answer = ask(anna, route)
            text = answer.text.replace(photo, "")
            secrets = [secret for secret in [*hers, received, "@zoe", "of berta"] if secret in text]
            assert not secrets, f"{route.method} {route.path} tells {secrets}"
            if "/photo/" in route.path or "/request/" in route.path:
                assert answer.status == 404, f"{route.method} {route.path}: {answer.status}"
    for path in ["/", "/?filter=berta", "/conversation?name=shared", "/conversation?name=for-berta",
                 "/conversation/settings?name=only-berta", f"/conversation?name=only-berta&at={hers[-1]}"]:
        text = anna.get(path).text
        assert not any(secret in text.replace(path, "") for secret in [*hers, received, "@zoe"]), path
    for path in ["/queue", "/queue?to=only-berta", "/storage", "/metrics", "/profile?inbox=berta", "/events?view=list",
                 "/events?view=conversation:only-berta"]:
        answer = anna.get(path)
        told = [secret for secret in ["berta", *hers, received] if secret in answer.text.replace("only-berta", "")]
        assert answer.status == 200 and not told, f"{path} tells {told}"
    for path in ["/check", "/metrics.txt", "/sessions", "/storage/clear", "/conversation/purge?name=only-berta"]:
        assert anna.get(path).status == 403, path
    assert "only-berta" not in anna.get("/").text and "for-berta" not in anna.get("/").text
    assert "No photo of this conversation is kept here" in anna.get("/conversation/settings?name=only-berta").text
    assert "only-berta" in everybody.get("/").text
    assert anna.get("/conversation?name=shared").text.count('data-test="message"') == 2
    anna.send("shared", "by the page", **{"from": "berta"})
    until(lambda: "by the page" in stage.texts("shared"), "it is published")
    assert anna.get("/conversation?name=shared").text.count('data-test="message"') == 3, "it was not sent as anna"
