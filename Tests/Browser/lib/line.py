"""The line between a browser and the page, made slow."""


class Line:
    """The line of a tab: so many bytes a second go up, until it is opened."""

    def __init__(self, tab, rate):
        self.devtools = tab.context.new_cdp_session(tab)
        self.devtools.send("Network.enable")
        self.set(rate)

    def set(self, rate):
        self.devtools.send("Network.emulateNetworkConditions", {
            "offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": rate})

    def open(self):
        self.set(-1)
