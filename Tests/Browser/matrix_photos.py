"""Photos that somebody sends by a Matrix homeserver."""

import time

from matrix import Homeserver
from photographs import photograph
from stage import until


def test_a_photo_of_a_room_arrives_blurred_and_is_revealed(stage):
    """A photo that another person's client sends to the room is on the open page, blurred, and its original does not cross the
    wire. It is revealed, the sheet asks about later photos, the next one is shown at once, and the first one is hidden again."""
    home = Homeserver(stage.directory / "synapse")
    stage.servers.append(home)
    token = stage.directory / "token"
    token.write_text(home.facts["bob"] + "\n")
    token.chmod(0o600)
    stage.configure(home.settings() + "receiving: {fetch: always, allowPrivate: true}\n")
    tab = stage.log_in(view="phone")
    stage.compose(tab)
    send(home, photograph(stage.directory, "one.jpg", 900, 600))
    begun = time.monotonic()
    tab.get_by_test_id("message.reveal").wait_for()
    print(f"blurred {1000 * (time.monotonic() - begun):.0f} ms after the homeserver had it")
    photo = tab.get_by_test_id("message").get_attribute("id")
    assert tab.evaluate("photo => fetch(`/photo/${photo}/original`).then(answer => answer.status)", photo) == 409
    assert not [url for url in stage.requests if url.endswith("/thumbnail")]
    stage.picture(tab, "matrix-blurred")
    tab.get_by_test_id("message.reveal").click()
    tab.get_by_test_id("ask.sheet").get_by_test_id("ask.show").click()
    tab.get_by_test_id("ask.sheet").wait_for(state="detached")
    tab.locator(f"[id='{photo}'] a[data-test='message.photo']").wait_for()
    send(home, photograph(stage.directory, "two.jpg", 600, 900))
    until(lambda: tab.get_by_test_id("message.photo").count() == 2, "the next one is shown at once")
    tab.locator(f"[id='{photo}'] a[data-test='message.photo']").click()
    tab.locator("dialog.viewer[open]").wait_for()
    tab.get_by_test_id("photo.hide").click()
    tab.locator(f"[id='{photo}'] [data-test='message.reveal']").wait_for()
    assert tab.evaluate("photo => fetch(`/photo/${photo}/original`).then(answer => answer.status)", photo) == 409


def send(home, photo):
    contents = photo.read_bytes()
    home.say(photo.stem, {"msgtype": "m.image", "body": photo.name, "url": home.upload(contents),
                          "info": {"mimetype": "image/jpeg", "size": len(contents)}})
