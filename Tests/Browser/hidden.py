"""Photos of others: hidden until they are revealed, and not fetched until that is wanted."""

from photographs import photograph
from stage import SCHEMES, VIEWS, press, size


def test_a_hidden_photo_does_not_cross_the_wire(stage):
    """Only the blurred preview of a hidden photo is served: original and thumbnail are answered with 409 until it is
    revealed, and again once it is hidden."""
    server, link = stage.start_receiving(), stage.start_page()
    client = stage.client(link)
    photo = arrived(stage, server, client, "first")
    for _ in range(2):
        for part in ["original", "thumbnail", "original?save"]:
            answer = client.get(f"/photo/{photo}/{part}")
            assert answer.status == 409 and "jpeg" not in answer.headers["Content-Type"], f"{part}: {answer.status}"
        blurred = client.get(f"/photo/{photo}/blurred")
        assert blurred.status == 200 and blurred.headers["Content-Type"] == "image/jpeg"
        assert blurred.headers["Content-Security-Policy"].startswith("sandbox")
        assert blurred.body == only(stage, "blurred.jpg").read_bytes()
        for path in ["/", "/conversation?name=family", f"/photo/{photo}"]:
            page = client.get(path).text
            assert "/original" not in page and "/thumbnail" not in page, path
        assert client.post(f"/photo/{photo}/reveal").status == 303
        for part, file in [("original", "original.jpg"), ("thumbnail", "thumbnail.jpg")]:
            assert client.get(f"/photo/{photo}/{part}").body == only(stage, file).read_bytes()
        assert client.post(f"/photo/{photo}/hide").status == 303


def test_a_hidden_photo_is_blurred_on_every_screen(stage):
    """The blurred picture fills the photo's place, with the button over it; the list shows it blurred, too."""
    server, link = stage.start_receiving(), stage.start_page()
    client = stage.client(link)
    arrived(stage, server, client, "first")
    for view in VIEWS:
        for scheme in SCHEMES:
            tab = stage.open(view=view, scheme=scheme, cookies=client.cookie)
            tab.goto(stage.url("/"))
            assert "hidden" in tab.get_by_test_id("list.row").inner_text()
            assert tab.get_by_test_id("list.row").locator("img").get_attribute("src").endswith("/blurred")
            tab.goto(stage.url("/conversation", "family"))
            button = tab.get_by_test_id("message.reveal")
            picture = tab.locator(".timeline img")
            size(picture)
            assert "Tap to reveal" in button.inner_text()
            assert picture.get_attribute("alt") == "Hidden photo from @anna:example.org"
            assert button.bounding_box() == picture.bounding_box(), f"{view}, {scheme}"
            stage.picture(tab, f"blurred-{view}-{scheme}")


def test_nothing_is_fetched_until_it_is_wanted(stage):
    """Before Fetch there is a plate with sender and size, no picture, and no request to the server of the object."""
    server, link = stage.start_receiving(), stage.start_page()
    tab = stage.open(link, view="phone")
    stage.receive(server, "first", "family", photograph(stage.directory, "one.jpg", 900, 600))
    stage.wait_for_state("first", "offered")
    tab.goto(stage.url("/"))
    press(tab, "list.row")
    plate = tab.get_by_test_id("message.plate").inner_text()
    assert "Photo from @anna:example.org" in plate and "kB" in plate, plate
    assert tab.locator(".timeline img").count() == 0
    tab.goto(stage.url(f"/photo/{tab.get_by_test_id('message').get_attribute('id')}"))
    tab.get_by_test_id("message.plate").wait_for()
    assert server.asked == [], "something was fetched"
    assert stage.received()["first"]["state"] == "offered"
    press(tab, "photo.close")
    tab.get_by_test_id("message.fetch").click()
    stage.wait_for_state("first", "downloaded")
    tab.goto(stage.url("/conversation", "family"))
    tab.get_by_test_id("message.reveal").wait_for()
    assert len(server.asked) == 1, server.asked


def test_a_photo_that_cannot_be_fetched_says_why(stage):
    """A fetch that failed shows its sentence and can be tried once more."""
    server, link = stage.start_receiving(), stage.start_page()
    tab = stage.open(link)
    whole = photograph(stage.directory, "one.jpg", 300, 200)
    (stage.directory / "text.jpg").write_text("This is no photo.\n" * 100)
    stage.receive(server, "first", "family", stage.directory / "text.jpg")
    stage.wait_for_state("first", "offered")
    tab.goto(stage.url("/conversation", "family"))
    tab.get_by_test_id("message.fetch").click()
    stage.wait_for_state("first", "failed")
    tab.reload()
    assert len(tab.get_by_test_id("message.error").inner_text()) > 15
    server.objects[server.asked[-1]] = whole.read_bytes()
    tab.get_by_test_id("message.fetch").click()
    stage.wait_for_state("first", "downloaded")


def arrived(stage, server, client, name):
    """A photo of somebody was fetched. Returns its id."""
    stage.receive(server, name, "family", photograph(stage.directory, f"{name}.jpg", 900, 600))
    photo = stage.wait_for_state(name, "offered")["message"]
    assert client.post(f"/photo/{photo}/fetch").status == 303
    stage.wait_for_state(name, "downloaded")
    return photo


def only(stage, file):
    found = list((stage.spool / "photos").rglob(file))
    assert len(found) == 1, found
    return found[0]
