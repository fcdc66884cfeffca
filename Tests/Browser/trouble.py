"""The page while something else is broken."""

import re
import sqlite3
import subprocess

from drafts import Draft
from photographs import photograph
from scene import Scene
from stage import has_left, press, say, size, until


def test_without_a_daemon_sending_waits(stage):
    """Without a daemon a banner says so with the command that starts it; what is sent waits, is shown, and goes out when
    the daemon starts."""
    stage.start_daemon()
    stage.stop_daemon()
    tab = stage.open(stage.start_page(), javascript=False)
    banner = tab.get_by_test_id("page.daemon").inner_text()
    assert "The daemon does not run: what you send waits" in banner and "photospool run" in banner, banner
    tab.goto(stage.url("/conversation", "family"))
    tab.get_by_test_id("composer.text").fill("while it was away")
    tab.get_by_test_id("composer.photos").set_input_files(photograph(stage.directory, "1.jpg", 300, 200))
    press(tab, "composer.send")
    tab.get_by_test_id("message.text").wait_for()
    assert tab.get_by_test_id("message.text").inner_text() == "while it was away"
    assert tab.get_by_test_id("message").count() == 2
    plate = tab.get_by_test_id("message.plate").inner_text()
    assert "1.jpg" in plate and re.search(r"\d (k?B|MB)", plate), plate
    stage.picture(tab, "no-daemon")
    stage.start_daemon()
    until(lambda: stage.are_sent(2), "it goes out")
    assert stage.texts("family") == ["photo", "while it was away"]
    tab.reload()
    assert tab.get_by_test_id("page.daemon").count() == 0
    assert "Sent" in tab.get_by_test_id("message.meta").last.inner_text()


def test_without_a_daemon_the_page_can_be_read(stage):
    """Without a daemon all pages and pictures are there, and orders that need it say why they cannot be done, and do nothing."""
    scene = Scene(stage)
    stage.stop_daemon()
    tab = stage.open(cookies=scene.client.cookie)
    for name, path in (scene.pages() | scene.operating()).items():
        assert tab.goto(stage.url(path)).status == (404 if name == "problem" else 200), name
    tab.goto(stage.url(f"/photo/{scene.own}"))
    assert size(tab.get_by_test_id("photo.picture"))[0] > 0
    for path in ["/conversation/hold?name=family", "/conversation/release?name=garden", f"/photo/{scene.hidden}/reveal",
                 f"/photo/{scene.revealed}/hide", f"/photo/{scene.offered}/fetch", "/conversation/prefs?name=family",
                 "/queue/flush", "/storage/clear", "/check"]:
        answer = scene.client.post(path, "auto-reveal=on")
        assert answer.status == 503 and "The daemon does not run, so this cannot be done now" in answer.text, path
        assert "<code>photospool run</code>" in answer.text, path
    assert scene.client.get(f"/photo/{scene.hidden}/original").status == 409, "nothing was revealed"
    assert scene.client.get(f"/photo/{scene.revealed}/original").status == 200, "nothing was cleared or hidden"
    stage.start_daemon()
    assert stage.received()["offered"]["state"] == "offered" and "auto-reveal: on" not in stage.run("prefs", "family")
    assert [message["request"] for message in stage.waiting()] == ["held"] and stage.failed() == ["refused"]


def test_without_a_daemon_files_can_be_changed(stage):
    """Without a daemon one failed request is retried and another one deleted, a waiting one is cancelled, a draft is composed and
    sent, and a conversation is deleted. All of it happens when the daemon starts, and nothing else."""
    scene = Scene(stage)
    photos = {f"{name}.jpg": photograph(stage.directory, f"{name}.jpg", 300 + number, 200) for number, name in enumerate("abc")}
    stage.drop("unwanted", "family", text="Unwanted", photos=[])
    stage.drop("old", "attic", photos=[photos["a.jpg"]])
    until(lambda: len(stage.failed()) == 2 and stage.accepted() == ["held"], "one is refused, the other one is sent")
    stage.stop_daemon()
    stage.refuse()
    for path, body in [("/request/refused/retry", ""), ("/request/unwanted/delete", ""), ("/request/held/cancel", ""),
                       ("/conversation/purge?name=attic", "confirm=attic")]:
        answer = scene.client.post(path, body)
        assert answer.status == 303, f"{path}: {answer.status} {answer.text}"
    assert "The order to delete the conversation is on the disk" in scene.client.get(answer.headers["Location"]).text
    draft = Draft(scene.client, "album")
    for name, photo in photos.items():
        draft.put(name, photo.read_bytes())
    first, second, third = (photo["file"] for photo in draft.ask("POST", "/draft")["photos"])
    draft.ask("DELETE", f"/draft/{draft.name}/photo", file=first)
    draft.ask("POST", f"/draft/{draft.name}/order", "\n".join([third, second]))
    draft.ask("PUT", f"/draft/{draft.name}/text", "Composed")
    assert draft.names() == ["c.jpg", "b.jpg"]
    assert scene.client.send("album", "Composed", draft=draft.name).status == 303
    before = len(stage.lines())
    stage.start_daemon()
    until(lambda: not stage.waiting() and len(stage.lines()) == before + 4, "all is sent, and the other one is cancelled")
    lines = stage.lines()[before:]
    assert [line["kind"] for line in lines if line["conversation"] == "album"] == ["photo", "photo", "text"]
    assert [photo["attachment"]["width"] for photo in lines if photo["kind"] == "photo"] == [302, 301]
    assert [line["text"] for line in lines if line["conversation"] == "family"] == ["This one is refused."]
    until(lambda: "attic" not in stage.run("storage", "--json"), "the conversation is deleted")
    assert not stage.failed() and not [path for path in stage.spool.rglob("*") if "attic" in path.name]
    stage.run("release", "garden")
    assert len(stage.lines()) == before + 4


def test_without_a_ledger_sending_works(stage):
    """Before there is a ledger the page is empty, and what is sent waits for the daemon."""
    stage.start_daemon()
    stage.stop_daemon()
    for file in (stage.spool / "state").glob("ledger*"):
        file.unlink()
    tab = stage.open(stage.start_page())
    tab.get_by_test_id("list.none").wait_for()
    tab.goto(stage.url("/conversation", "family"))
    say(tab, "the first")
    until(lambda: has_left(tab), "it has left")
    tab.get_by_test_id("message.text").wait_for()
    tab.goto(stage.url("/conversation/settings", "family"))
    tab.get_by_test_id("settings.main").wait_for()
    stage.start_daemon()
    until(lambda: stage.texts("family") == ["the first"], "it goes out")


def test_a_damaged_ledger_is_a_sentence(stage):
    """With a damaged ledger the page says what the command line says, and sending works."""
    damaged(stage, lambda ledger: ledger.write_bytes(b"This is no ledger. " * 4096))


def test_a_ledger_of_a_newer_photospool_is_a_sentence(stage):
    """With a ledger of a newer photospool the page says what the command line says, and sending works."""
    def renew(ledger):
        with sqlite3.connect(ledger) as database:
            database.execute("INSERT INTO grdb_migrations VALUES ('of the future')")
        database.close()

    damaged(stage, renew)


def test_a_ledger_of_an_earlier_photospool_is_a_sentence(stage):
    """With a ledger of an earlier photospool the page says what the command line says, and sending works. Once the daemon has
    upgraded it, the page goes on."""
    def age(ledger):
        with sqlite3.connect(ledger) as database:
            changed = database.execute("UPDATE grdb_migrations SET identifier = 'v20 where messages were offered'")
            assert changed.rowcount == 1
        database.close()

    tab = damaged(stage, age)
    stage.start_daemon()
    until(lambda: stage.are_sent(2), "it is sent")
    until(lambda: tab.get_by_test_id("message").count() == 2, "the page shows both")
    until(lambda: tab.get_by_test_id("page.ledger").count() == 0, "and has no banner any more")


def damaged(stage, damage):
    stage.start_daemon()
    stage.drop("before", "family", text="before")
    until(lambda: stage.texts("family") == ["before"], "it is sent")
    link = stage.start_page()
    stage.stop_daemon()
    damage(stage.spool / "state" / "ledger.sqlite")
    said = subprocess.run([*stage.program, "queue"], env=stage.environment, capture_output=True, text=True)
    assert said.returncode != 0, f"the command line finds nothing wrong: {said.stdout}"
    sentence = said.stderr.strip().removeprefix("photospool: ").splitlines()[0].rstrip(".")
    tab = stage.open(link)
    for path in ["/", "/conversation?name=family"]:
        tab.goto(stage.url(path))
        assert sentence in tab.locator("main").inner_text(), f"{path}: {tab.locator('main').inner_text()} {sentence}"
    assert tab.get_by_test_id("composer.form").count() == 1, "nothing can be sent"
    say(tab, "sent nevertheless")
    texts = lambda: [path.read_text().strip() for path in (stage.spool / "new").glob("*/text")]
    until(lambda: texts() == ["sent nevertheless"], "it is in new/")
    return tab
