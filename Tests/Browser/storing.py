"""The storage page: its figures, and what clears and deletes."""

import json
import os

from photographs import photograph
from scene import Scene
from stage import press, until


def figures(stage):
    return [json.loads(line) for line in stage.run("storage", "--json").splitlines()]


def in_words(number):
    for unit, size in [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)]:
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number} B"


def test_figures_are_those_of_the_command(stage):
    """The page has the figures of `storage --json` for all photos, every inbox and every conversation."""
    scene = Scene(stage)
    tab = stage.open(cookies=scene.client.cookie)
    tab.goto(stage.url("/storage"))
    lines = figures(stage)
    assert in_words(lines[0]["bytes"]) in tab.get_by_test_id("storage.use").inner_text()
    objects = tab.get_by_test_id("storage.objects").inner_text()
    assert lines[0]["objects"] > 0 and f"{lines[0]['objects']} objects" in objects and in_words(lines[0]["objectBytes"]) in objects
    assert stage.client(stage.link("--inbox", "default")).get("/storage").text.count("storage.objects") == 0
    shown = tab.get_by_test_id("storage.conversation").all_inner_texts()
    conversations = [line for line in lines if line["conversation"]]
    assert len(shown) == len(conversations)
    for line, text in zip(conversations, shown):
        assert line["conversation"] in text and in_words(line["bytes"]) in text and f"{line['photos']} photo" in text, text
    assert "janitor" in tab.get_by_test_id("storage.ran").inner_text()


def test_clear_removes_what_it_said(stage):
    """Clear says first how many photos go and why others stay. It then removes exactly these; thumbnails stay."""
    server = stage.start_receiving()
    tab = stage.open(stage.start_page())
    client = stage.client(stage.link())
    for number in range(3):
        stage.receive(server, f"p{number}", "family", photograph(stage.directory, f"{number}.jpg", 900, 600 + number))
        message = until(lambda: stage.received().get(f"p{number}"), "it is announced")["message"]
        client.post(f"/photo/{message}/fetch")
        stage.wait_for_state(f"p{number}", "downloaded")
    plan = stage.run("clear", "--dry-run").splitlines()
    tab.goto(stage.url("/storage"))
    tab.get_by_test_id("board.pause").wait_for()
    tab.get_by_test_id("storage.clear-conversation").click()
    going = tab.get_by_test_id("clear.going").inner_text()
    assert going == plan[0], plan
    assert all(line in tab.get_by_test_id("clear.plan").inner_text() for line in plan[1:]), plan
    tab.get_by_test_id("clear.keep").click()
    tab.get_by_test_id("clear.sheet").wait_for(state="detached")
    assert len(list((stage.spool / "photos").rglob("original.jpg"))) == 3
    tab.get_by_test_id("storage.clear").click()
    press(tab, "clear.now")
    assert going in tab.get_by_test_id("page.notice").inner_text()
    photos = stage.spool / "photos"
    assert not list(photos.rglob("original.jpg")) and len(list(photos.rglob("blurred.jpg"))) == 3


def test_a_purge_leaves_nothing(stage):
    """A conversation is deleted only after its name was typed. Then nothing of it is in the spool, the ledger or the
    browser's profile."""
    stage.start_daemon()
    link = stage.start_page()
    for name, of in [("secret-garden", "Dragonfly_by_Bolly.jpg"), ("family", "Wine_by_Jakkub_Mede.jpg")]:
        photo = photograph(stage.directory, f"{name}.jpg", 900, 600, of)
        stage.drop(f"to-{name}", name, text=f"words for {name}", photos=[photo])
        photo.unlink()
    until(lambda: stage.are_sent(2, "secret-garden") and stage.are_sent(2), "they are sent")
    profile = stage.directory / "browser"
    # A profile on the disk, of which everything is looked at afterwards.
    context = stage.browser.browser_type.launch_persistent_context(
        str(profile), executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
        args=["--no-sandbox"] if os.geteuid() == 0 else [])
    context.set_default_timeout(60_000)
    tab = context.new_page()
    tab.goto(link)
    press(tab, "login.open")
    tab.goto(stage.url("/conversation", "secret-garden"))
    tab.locator(".timeline img").evaluate("image => image.decode()")
    bytes_shown = next((stage.spool / "photos/default/secret-garden").rglob("original.jpg")).read_bytes()
    press(tab, "conversation.settings")
    press(tab, "settings.purge")
    tab.get_by_test_id("purge.name").fill("secret")
    press(tab, "purge.now")
    assert "Nothing was deleted" in tab.get_by_test_id("purge.problem").inner_text()
    assert (stage.spool / "photos/default/secret-garden").exists()
    tab.get_by_test_id("purge.name").fill("secret-garden")
    with tab.expect_response(lambda answer: answer.request.method == "POST") as answer:
        press(tab, "purge.now")
    assert answer.value.all_headers()["clear-site-data"] == '"cache"'
    assert "is deleted here" in tab.get_by_test_id("page.notice").inner_text()
    assert tab.get_by_test_id("list.row").count() == 1
    lines = figures(stage)
    assert [line["conversation"] for line in lines if line["conversation"]] == ["family"], lines
    inbox = next(line for line in lines if line["inbox"] and not line["conversation"])
    shown = tab.get_by_test_id("storage.inbox").inner_text()
    assert inbox["photos"] == 1 and "Inbox, 1 photo" in shown and in_words(inbox["bytes"]) in shown, f"{inbox} {shown}"
    script = tab.locator("script").get_attribute("src").replace("main.js", "board.js")
    public = stage.client().get(script).body
    # The script has come, then.
    tab.get_by_test_id("board.pause").wait_for()
    context.close()
    stage.stop_daemon()
    kept, holds = 0, [str(path) for path in stage.spool.rglob("*") if "secret-garden" in str(path)]
    for path in [*stage.spool.rglob("*"), *profile.rglob("*")]:
        if path.is_file() and not path.is_symlink():
            contents = path.read_bytes()
            kept += public in contents
            # The browser keeps addresses in its history, not pictures.
            if bytes_shown[200:600] in contents or stage.spool in path.parents and b"secret-garden" in contents:
                holds.append(str(path))
    assert not holds, holds
    assert kept, "a script, which may be kept, is not found either"


def test_the_limit_is_told_on_every_page(stage):
    """Beyond the limit of an inbox every page has a banner, and the storage page says what goes first."""
    stage.configure("cache: {inbox: 1000}\n")
    tab = stage.log_in()
    stage.drop("one", "family", photos=[photograph(stage.directory, "1.jpg", 900, 600)])
    until(lambda: stage.are_sent(1), "it is sent")
    for path in ["/", "/conversation?name=family", "/storage"]:
        tab.goto(stage.url(path))
        assert "beyond" in tab.get_by_test_id("page.storage").inner_text(), path
    assert "least recently viewed" in tab.get_by_test_id("storage.inbox").inner_text()
    stage.picture(tab, "storage-beyond")
