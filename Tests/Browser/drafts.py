"""Drafts by HTTP: photos that are uploaded before Send."""

import json
import socket
import threading
from urllib.parse import quote

from client import form
from photographs import photograph
from stage import press, until


class Draft:
    """The draft of a conversation, as the page's script changes it."""

    def __init__(self, client, conversation="family"):
        self.client, self.conversation = client, conversation
        self.name = None

    def ask(self, method, path, body=b"", status=200, **query):
        words = {"name": self.conversation} | query
        address = path + "?" + "&".join(f"{key}={quote(value, safe='')}" for key, value in words.items())
        answer = self.client.ask(method, address, body)
        assert answer.status == status, f"{method} {address}: {answer.status} {answer.text}"
        values = json.loads(answer.body)
        self.name = values.get("draft", self.name)
        return values

    def put(self, file, contents, status=201):
        return self.ask("PUT", f"/draft/{self.name or 'new'}/photo", contents, status, file=file)

    def names(self):
        return [photo["name"] for photo in self.ask("POST", "/draft").get("photos", [])]


def test_photos_of_a_draft_are_uploaded_before_send(stage):
    """Three photos of a draft are in the store before Send. One is removed, two change places, and Send publishes them
    in this order with the text."""
    draft, pictures = begin(stage)
    for name, photo in pictures.items():
        draft.put(name, photo)
    assert draft.names() == ["1.jpg", "2.jpg", "3_ä.jpg"], draft.names()
    until(lambda: objects(stage) == 3, "the store has three objects")
    assert not stage.published("family")
    page = draft.client.get("/conversation?name=family").text
    assert page.count('data-test="composer.remove"') == 3 and f'value="{draft.name}"' in page
    photos = draft.ask("POST", "/draft")["photos"]
    draft.ask("DELETE", f"/draft/{draft.name}/photo", file=photos[1]["file"])
    until(lambda: objects(stage) == 2, "the object of the removed photo is deleted")
    draft.ask("POST", f"/draft/{draft.name}/order", "\n".join([photos[2]["file"], photos[0]["file"]]))
    assert draft.names() == ["3_ä.jpg", "1.jpg"]
    draft.ask("PUT", f"/draft/{draft.name}/text", "From a draft")
    assert draft.ask("POST", "/draft")["text"] == "From a draft"
    key = draft.client.key("family")
    for _ in range(2):
        # The first answer is lost.
        assert draft.client.send("family", "From a draft", key=key, draft=draft.name).status == 303
    until(lambda: stage.are_sent(3), "it is published")
    assert stage.texts("family") == ["photo", "photo", "From a draft"]
    assert draft.ask("POST", "/draft").get("photos") == []
    answer = draft.client.send("family", "again", draft=draft.name)
    assert answer.status == 422 and "This draft is gone" in answer.text and ">again<" in answer.text
    left = [path for path in (stage.spool / "draft").iterdir()] + list((stage.spool / "tmp").glob("[!.]*"))
    assert not left, left


def test_a_draft_that_is_emptied_is_gone(stage):
    """A draft whose last photo and text are removed leaves nothing, and DELETE removes a whole one."""
    draft, pictures = begin(stage)
    added = draft.put("1.jpg", pictures["1.jpg"])["added"]
    draft.ask("DELETE", f"/draft/{draft.name}/photo", file=added)
    assert not list((stage.spool / "draft").iterdir())
    draft.ask("PUT", "/draft/new/text", "Only a text")
    assert (stage.spool / "draft" / draft.name / "text").read_text() == "Only a text"
    draft.ask("PUT", f"/draft/{draft.name}/text", " \n")
    assert not list((stage.spool / "draft").iterdir())
    draft.put("1.jpg", pictures["1.jpg"])
    until(lambda: objects(stage) == 1, "it is uploaded")
    draft.ask("DELETE", f"/draft/{draft.name}")
    until(lambda: objects(stage) == 0, "its object is deleted")
    assert not list((stage.spool / "draft").iterdir())
    draft.ask("DELETE", f"/draft/{draft.name}", status=404)


def test_a_form_without_javascript_goes_on_with_the_draft(stage):
    """Without JavaScript the composer shows the draft, removes a photo of it, keeps the text, and sends the rest with
    another photo."""
    draft, pictures = begin(stage)
    for name in ["1.jpg", "2.jpg"]:
        draft.put(name, pictures[name])
    draft.ask("PUT", f"/draft/{draft.name}/text", "Begun elsewhere")
    tab = stage.open(stage.link(), view="phone", javascript=False)
    tab.goto(stage.url("/conversation", "family"))
    assert tab.get_by_test_id("composer.tray").locator("li").count() == 2
    assert tab.get_by_test_id("composer.text").input_value() == "Begun elsewhere"
    tab.get_by_test_id("composer.text").fill("Changed here")
    press(tab, tab.get_by_test_id("composer.remove").first)
    assert tab.get_by_test_id("composer.tray").locator("bdi").all_text_contents() == ["2.jpg"]
    assert tab.get_by_test_id("composer.text").input_value() == "Changed here"
    tab.get_by_test_id("composer.photos").set_input_files(photograph(stage.directory, "late.jpg", 500, 500))
    press(tab, "composer.send")
    until(lambda: stage.are_sent(3), "it is published")
    assert stage.texts("family") == ["photo", "photo", "Changed here"]


def test_limits_of_a_draft_are_sentences(stage):
    """An eleventh photo, a photo of 10 MB and one byte, an empty one and a text that is too long are refused with a
    sentence, and nothing is left of them."""
    draft, pictures = begin(stage)
    for number in range(10):
        draft.put(f"{number}.jpg", pictures["1.jpg"] + bytes(number))
    for name, contents, status, words in [
            ("11.jpg", pictures["1.jpg"], 422, "more than 10 photos"),
            ("large.jpg", bytes(10_000_001), 413, "large.jpg is larger than 10"),
            ("empty.jpg", b"", 422, "empty.jpg is empty")]:
        problem = draft.put(name, contents, status)
        assert words in problem["detail"] and problem["status"] == status, problem
    problem = draft.ask("PUT", f"/draft/{draft.name}/text", "x" * 65_538, 413)
    assert "64 kB" in problem["detail"] or "65" in problem["detail"], problem
    assert len(draft.names()) == 10
    assert not list((stage.spool / "tmp").glob(".web-*"))
    order = list(reversed(draft.ask("POST", "/draft")["photos"]))
    for _ in range(12):
        order = list(reversed(draft.ask("POST", f"/draft/{draft.name}/order",
                                        "\n".join(photo["file"] for photo in order))["photos"]))
    assert sorted(draft.names()) == sorted(f"{number}.jpg" for number in range(10))


def test_uploads_at_once_are_limited(stage):
    """The seventeenth upload of a session at once is refused with 429, and another session still uploads. A client that
    asks for it is told to continue."""
    draft, pictures = begin(stage)
    head = (f"PUT /draft/new/photo?name=slow&file=slow.jpg HTTP/1.1\r\nHost: {stage.address}\r\n"
            f"Origin: http://{stage.address}\r\nCookie: {draft.client.cookie}\r\nContent-Length: 1000\r\n"
            "Expect: 100-continue\r\n\r\n")
    slow = []
    for _ in range(16):
        connection = socket.create_connection(("127.0.0.1", draft.client.port), timeout=20)
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100 "), "it is not told to continue"
        slow.append(connection)
    until(lambda: len(list((stage.spool / "tmp").glob(".web-*"))) == 16, "sixteen uploads run")
    assert "already" in draft.put("1.jpg", pictures["1.jpg"], 429)["detail"]
    other = Draft(stage.client(stage.link()))
    other.put("1.jpg", pictures["1.jpg"])
    for connection in slow:
        connection.close()
    until(lambda: not list((stage.spool / "tmp").glob(".web-*")), "what was cut off is removed")
    # An upload is counted until its answer has failed.
    put = lambda: draft.client.ask("PUT", "/draft/new/photo?name=family&file=2.jpg", pictures["2.jpg"]).status
    until(lambda: put() == 201, "there is room again")
    assert draft.names() == ["1.jpg", "2.jpg"]


def test_many_photos_at_once_are_one_draft(stage):
    """Eight photos that are put at once by two sessions are in one draft."""
    draft, pictures = begin(stage)
    clients = [draft.client, stage.client(stage.link())]
    threads = [threading.Thread(target=Draft(clients[number % 2]).put, args=(f"{number}.jpg", pictures["1.jpg"] + bytes(number)))
               for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(draft.names()) == [f"{number}.jpg" for number in range(8)]
    assert len(list((stage.spool / "draft").iterdir())) == 1


def test_a_draft_belongs_to_its_inbox(stage):
    """A session of another inbox neither finds nor changes a draft. One that may only send does not see the draft of
    somebody else, and does not end it."""
    draft, pictures = begin(stage)
    added = draft.put("1.jpg", pictures["1.jpg"])["added"]
    draft.ask("PUT", f"/draft/{draft.name}/text", "private words")
    anna = stage.client(stage.link("--inbox", "anna"))
    blind = stage.client(stage.link("--may", "send"))
    looker = stage.client(stage.link("--may", "see"))
    for client, found in [(anna, 200), (blind, 409), (looker, 403)]:
        answer = client.post("/draft?name=family", Accept="text/vnd.photospool.fragment")
        assert answer.status == found and draft.name not in answer.text, answer.text
        for method, path in [("DELETE", f"/draft/{draft.name}/photo?file={added}&name=family"),
                             ("POST", f"/draft/{draft.name}/order?name=family"),
                             ("DELETE", f"/draft/{draft.name}?name=family")]:
            assert client.ask(method, path, added).status == (403 if client is looker else 404)
        if client is not looker:
            body, kind = form({"id": "stolen", "text": "stolen", "draft": draft.name})
            assert client.post("/conversation?name=family", body, Content_Type=kind).status == 422
        assert "private words" not in client.get("/conversation?name=family").text
    assert Draft(blind).put("2.jpg", pictures["2.jpg"], 409)
    hers = Draft(anna)
    hers.put("2.jpg", pictures["2.jpg"])
    until(lambda: objects(stage) == 2, "both drafts are uploaded")
    assert draft.names() == ["1.jpg"] and hers.names() == ["2.jpg"]
    assert blind.send("family", "by the way").status == 303
    until(lambda: "by the way" in stage.texts("family"), "it is published")
    assert draft.client.send("family", "mine", draft=draft.name).status == 303
    until(lambda: "mine" in stage.texts("family"), "the draft is published")


def test_no_draft_is_taken_on_a_full_disk(stage):
    """While the page's unfinished uploads fill their share of tmp/, a photo is refused with 507."""
    draft, pictures = begin(stage)
    left = stage.spool / "tmp" / ".web-1-left"
    with open(left, "wb") as file:
        file.truncate(995_000_000)
    assert "Unfinished uploads" in draft.put("1.jpg", pictures["1.jpg"], 507)["detail"]
    left.unlink()
    draft.put("1.jpg", pictures["1.jpg"])


def begin(stage):
    """A daemon, a page, and three photos by name."""
    stage.start_daemon()
    link = stage.start_page()
    shapes = {"1.jpg": (900, 600), "2.jpg": (600, 900), "3 ä.jpg": (500, 500)}
    pictures = {name: photograph(stage.directory, name, *shape).read_bytes() for name, shape in shapes.items()}
    return Draft(stage.client(link)), pictures


def objects(stage):
    return sum(1 for path in (stage.spool / "objects").rglob("*") if path.is_file())
