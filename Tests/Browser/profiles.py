"""The profile photo of an inbox."""

import json
import time

from client import form
from photographs import photograph
from stage import press, until


def state(stage):
    return json.loads(stage.run("profile", "show", "--json"))


def test_a_profile_photo_is_set_changed_and_removed(stage):
    """A photo is added, changed and removed after a question. The old one is shown until the new one is there, and stays
    if the change fails."""
    stage.configure("")
    tab = stage.log_in(view="phone")
    first, second = (photograph(stage.directory, name, 900, 600, of) for name, of in [
        ("first.jpg", "Dragonfly_by_Bolly.jpg"), ("second.jpg", "Wine_by_Jakkub_Mede.jpg")])
    tab.goto(stage.url("/profile"))
    assert tab.get_by_test_id("profile.blank").count() == 1 and tab.get_by_test_id("profile.remove").count() == 0
    press(tab, "profile.set")
    assert "Choose a photo" in tab.get_by_test_id("profile.problem").inner_text()
    messages = []
    for photo in [first, second]:
        tab.get_by_test_id("profile.file").set_input_files(photo)
        press(tab, "profile.set")
        begun = time.monotonic()
        tab.get_by_test_id("profile.done").wait_for()
        print(f"the page says that it is set, by itself, after {1000 * (time.monotonic() - begun):.0f} ms")
        until(lambda: state(stage)["state"] == "set" and state(stage)["message"] not in messages, "it is set")
        messages.append(state(stage)["message"])
        until(lambda: not stage.waiting(), "the ledger says so")
        tab.reload()
        assert tab.get_by_test_id("profile.done").count() == 1
        picture = tab.get_by_test_id("profile.photo")
        picture.evaluate("image => image.decode()")
        assert messages[-1] in picture.get_attribute("src")
    stage.picture(tab, "profile-set")
    (stage.directory / "no.jpg").write_bytes(b"\xff\xd8\xff no photo" * 50)
    tab.get_by_test_id("profile.file").set_input_files(stage.directory / "no.jpg")
    press(tab, "profile.set")
    until(lambda: stage.failed(), "it is refused")
    tab.reload()
    assert len(tab.get_by_test_id("profile.error").inner_text()) > 20
    assert "stays" in tab.get_by_test_id("profile.error").inner_text()
    assert messages[-1] in tab.get_by_test_id("profile.photo").get_attribute("src")
    stage.picture(tab, "profile-failed")
    tab.get_by_test_id("profile.remove").click()
    assert "Are you sure" in tab.locator(".sure form").inner_text()
    press(tab, "profile.remove-now")
    begun = time.monotonic()
    tab.get_by_test_id("profile.blank").wait_for()
    print(f"the page says that it is removed, by itself, after {1000 * (time.monotonic() - begun):.0f} ms")
    until(lambda: state(stage)["state"] == "removed" and not stage.waiting(), "it is removed")
    tab.reload()
    assert tab.get_by_test_id("profile.blank").count() == 1


def test_the_focus_stays_while_a_change_goes_on(stage):
    """Who moves on to the next photo by keyboard while one is uploaded stays there: at its end the page takes nothing away."""
    stage.program_as_network()
    tab = stage.log_in()
    tab.goto(stage.url("/profile"))
    for name in ["first", "second"]:
        stage.delay("profile")
        tab.get_by_test_id("profile.file").set_input_files(photograph(stage.directory, f"{name}.jpg", 300, 300))
        press(tab, "profile.set")
        until(lambda: "the gateway is closed" in tab.get_by_test_id("profile.busy").inner_text(), "the page says why it waits")
        tab.get_by_test_id("profile.file").focus()
        stage.delay()
        stage.run("flush")
        tab.get_by_test_id("profile.done").wait_for()
        assert tab.evaluate("document.activeElement.dataset.test") == "profile.file"


def test_a_change_that_has_just_failed_offers_to_be_tried_again(stage):
    """The ledger knows of a failure before the files are in `failed/`. Who looks in between need not look again."""
    stage.program_as_network()
    tab = stage.log_in()
    stage.refuse("profile")
    tab.goto(stage.url("/profile"))
    tab.get_by_test_id("profile.file").set_input_files(photograph(stage.directory, "first.jpg", 300, 300))
    press(tab, "profile.set")
    name, = until(stage.failed, "it fails")
    stage.stop_daemon()
    (stage.spool / "failed" / name).rename(stage.spool / "cur" / name)
    for page in ["profile", "request"]:
        tab.goto(stage.url("/profile" if page == "profile" else f"/request/{name}"))
        tab.get_by_test_id(f"{page}.error").wait_for()
        assert tab.get_by_test_id(f"{page}.retry").count() == 0
        (stage.spool / "cur" / name).rename(stage.spool / "failed" / name)
        tab.get_by_test_id(f"{page}.retry").wait_for()
        (stage.spool / "failed" / name).rename(stage.spool / "cur" / name)


def test_a_session_changes_only_its_inbox(stage):
    """A session of one inbox sets the photo of that inbox, whatever the address says."""
    stage.start_daemon()
    client = stage.client(stage.start_page("--inbox", "anna"))
    photo = photograph(stage.directory, "first.jpg", 300, 300)
    body, content_type = form({"id": "key-1"}, [("first.jpg", photo.read_bytes())])
    assert client.post("/profile?inbox=berta", body, Content_Type=content_type).status == 303
    until(lambda: json.loads(stage.run("profile", "show", "--json", "--from", "anna"))["state"] == "set", "it is set")
    assert json.loads(stage.run("profile", "show", "--json", "--from", "berta"))["state"] == "none"
