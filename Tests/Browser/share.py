"""The page on a phone: it is installed, and gets what other programs of the phone share."""

import json
from urllib.parse import urlsplit

from client import form
from photographs import photograph
from stage import press, until


def test_a_phone_can_install_the_page(stage):
    """A browser finds the manifest without a fault, and an icon that it can draw."""
    tab = stage.log_in(view="phone")
    session = tab.context.new_cdp_session(tab)
    found = session.send("Page.getAppManifest")
    assert found["url"] == stage.url("/manifest.webmanifest") and not found["errors"], found
    # A test's browser keeps nothing; everything else is as a phone wants it.
    errors = [error["errorId"] for error in session.send("Page.getInstallabilityErrors")["installabilityErrors"]]
    assert errors in ([], ["in-incognito"]), errors
    manifest = json.loads(stage.client().get("/manifest.webmanifest").body)
    assert manifest["share_target"]["action"] == "/share" and manifest["start_url"] == "/"
    for icon in manifest["icons"]:
        answer = stage.client().get(icon["src"])
        assert answer.status == 200 and answer.headers["Content-Type"] == icon["type"], icon
        if icon["type"] == "image/png":
            side = int(icon["sizes"].split("x")[0])
            assert answer.body[16:24] == side.to_bytes(4, "big") * 2, icon


def test_what_a_phone_shares_goes_into_a_draft(stage):
    """Photos and a text that a phone shares wait for the choice of a conversation, and are its draft then."""
    stage.start_daemon()
    client = stage.client(stage.start_page())
    client.send("family", "hello")
    until(lambda: stage.are_sent(1), "the conversation is known")
    photos = [photograph(stage.directory, f"{number}.jpg", 300 + number, 200) for number in range(2)]
    place = share(client, {"text": "from the album"}, photos).headers["Location"]
    tab = stage.open(cookies=client.cookie, view="phone")
    tab.goto(stage.url(place))
    assert tab.get_by_test_id("share.sentence").inner_text() == "Send 2 photos and a text to"
    stage.picture(tab, "share")
    press(tab, "share.to")
    assert tab.get_by_test_id("composer.text").input_value() == "from the album"
    assert tab.get_by_test_id("composer.remove").count() == 2
    tab.get_by_test_id("composer.send").click()
    until(lambda: stage.texts("family") == ["hello", "photo", "photo", "from the album"], "it is sent in order")
    assert client.get(place).status == 404
    assert not [path.name for path in (stage.spool / "tmp").iterdir() if path.name.startswith(".web")]


def test_only_the_phone_itself_shares(stage):
    """Another web site cannot share, another session does not see what was shared, and bad photos keep nothing."""
    stage.start_daemon()
    client = stage.client(stage.start_page())
    photo = photograph(stage.directory, "one.jpg", 300, 200)
    for site in ["cross-site", "same-site"]:
        assert share(client, {}, [photo], site=site).status == 403
    assert client.post("/conversation?name=family", Sec_Fetch_Site="none").status == 403
    assert share(stage.client(), {}, [photo]).status == 401
    assert share(stage.client(stage.link("--may", "see")), {}, [photo]).status == 403
    place = share(client, {"url": "https://example.org/", "text": "Look"}, [photo]).headers["Location"]
    other = stage.client(stage.link())
    assert other.get(place).status == 404 and other.post(place, "name=family").status == 404
    for name in ["", "..", "%2e%2e%2fx", "0" * 40]:
        assert client.get(f"/share/{name}").status == 404, name
    assert client.post(place, "name=").status == 400
    assert client.post(place, "name=new+one").status == 303
    text = client.get("/conversation?name=new+one").text
    assert "Look" in text and "https://example.org/" in text
    assert share(client, {}, [photo] * 11).status == 422
    assert share(client, {"text": "x" * 65_537}, []).status == 422
    assert not [path.name for path in (stage.spool / "tmp").iterdir() if path.name.startswith(".web")]
    assert urlsplit(share(client, {"text": " "}, []).headers["Location"]).path == "/"


def share(client, fields, photos, site="none"):
    """What a phone posts: it is no page's request."""
    body, content_type = form(fields, [(photo.name, photo.read_bytes()) for photo in photos])
    return client.post("/share", body, Content_Type=content_type, Sec_Fetch_Site=site, Origin=None)
