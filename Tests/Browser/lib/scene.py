"""A spool with something of everything, for tests that look at every page."""

from photographs import photograph
from stage import until


class Scene:
    """The conversations `family`, with photos in every state, and `garden`, which is held. The daemon runs."""

    def __init__(self, stage, settings=""):
        server = start(stage, settings)
        self.link = stage.start_page()
        self.stage, self.client = stage, stage.client(self.link)
        pictures = [photograph(stage.directory, "wide.jpg", 1600, 900),
                    photograph(stage.directory, "tall.jpg", 600, 1400, "sunset_by_Aitzol_Berasategi.jpg"),
                    photograph(stage.directory, "small.jpg", 300, 200, "Wine_by_Jakkub_Mede.jpg")]
        self.revealed = self.receive(server, "revealed", pictures[0])
        self.client.post(f"/photo/{self.revealed}/reveal")
        # The conversation is known now, so all but the last one are fetched.
        stage.run("prefs", "family", "--fetch", "ask")
        stage.receive(server, "offered", "family", pictures[2])
        self.offered = stage.wait_for_state("offered", "offered")["message"]
        stage.drop("sent", "family", photos=pictures)
        until(lambda: stage.delivered() == ["photo"] * 3 and not stage.waiting(), "the photos are sent")
        stage.refuse("text")
        stage.drop("refused", "family", text="This one is refused.", photos=pictures[2:])
        until(lambda: stage.failed() == ["refused"], "it is refused")
        self.hidden = self.receive(server, "hidden", pictures[1])
        self.own = next(line["message"] for line in stage.lines() if line["kind"] == "photo")
        stage.run("hold", "garden")
        stage.drop("held", "garden", text="Later")
        until(lambda: stage.accepted() == ["held"], "it waits")

    def receive(self, server, name, photo):
        self.stage.receive(server, name, "family", photo)
        message = until(lambda: self.stage.received().get(name), f"{name} is announced")["message"]
        self.client.post(f"/photo/{message}/fetch")
        self.stage.wait_for_state(name, "downloaded")
        return message

    def pages(self):
        """Name and path of every page with a session."""
        return {
            "list": "/", "filtered": "/?filter=nothing", "conversation": "/conversation?name=family",
            "held": "/conversation?name=garden", "empty": "/conversation?name=new",
            "photo": f"/photo/{self.own}", "revealed": f"/photo/{self.revealed}", "hidden": f"/photo/{self.hidden}",
            "plate": f"/photo/{self.offered}", "settings": "/conversation/settings?name=family", "sessions": "/sessions",
            "problem": "/photo/nothing"}

    def operating(self):
        """Name and path of every page for who looks after the system."""
        return {
            "queue": "/queue", "request": "/request/refused",
            "storage": "/storage", "clear": "/storage/clear", "purge": "/conversation/purge?name=family", "check": "/check",
            "metrics": "/metrics", "profile": "/profile"}


def start(stage, settings):
    """A daemon whose network is a program, and that fetches from this computer."""
    stage.program_as_network("receiving: {allowPrivate: true}\n" + settings)
    stage.start_daemon()
    return stage.object_server()
