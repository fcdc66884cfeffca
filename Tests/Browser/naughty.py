"""Hostile strings, wherever a page shows what somebody else wrote."""

import json
import re

from photographs import photograph
from stage import has_left, press, say, until

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
NAUGHTY = [
    "<script>document.title='broken'</script>", "<img src=x onerror=\"document.title='broken'\">",
    "\"><svg onload=\"document.title='broken'\">", "' onfocus='document.title=`broken`' autofocus='",
    "javascript:document.title='broken'", "</title></bdi></main><h1>broken</h1>", "{{#messages}}{{{text}}}{{/messages}}",
    "{{> conversation}}", "&lt;b&gt;&amp;&#x22;", "\"\u0301 x=", "<\u0301script>", ">\u0301<\u0338i x=\u0301",
    "'\u0301 onclick='",
    "&\u0301amp;", "a\u202egpj.exe", "\u2066a\u2069\u2067b", "\ufeff", "\ufefffamily", "\u200b", "e" + "\u0301" * 100, FAMILY,
    "../../etc/passwd", "..", "a/b?c=d&e=f#g", "%2e%2e%2f%00%0d%0aSet-Cookie:x=1", "%", "+ +", "a;b,c", "\u00e9" * 127,
    "x" * 255, "`$(id)`", "\\", "\u0628\u0633\u0645", "\ud7ff", "\uffff", "undefined", "0",
]
# Everything in a page that could not come from its templates. Its one script has this markup.
STRANGE = r"""() => [...document.querySelectorAll('*')].flatMap(e => {
    if (e.parentElement === document.head
        && /^<script type="module" src="\/static\/[0-9a-f]{16}\/main\.js"><\/script>$/.test(e.outerHTML)) return []
    const found = [...e.attributes].filter(a => /^on/.test(a.name) || /^(autofocus|srcdoc)$/.test(a.name)
        || /[^a-z0-9:-]/i.test(a.name) || a.name === 'x' && e.localName !== 'rect'
        || /^(href|src|action|formaction)$/.test(a.name) && !/^[/#]/.test(a.value))
    const isStrange = found.length || /^(script|iframe|object|embed|base|i)$/i.test(e.localName)
    return isStrange ? [e.outerHTML.slice(0, 100)] : []
}).concat(document.title === 'broken' ? ['it ran'] : [])"""


def test_names_of_conversations_are_text(stage):
    """Every name of a conversation is shown as text, and its page, settings and form lead to this conversation."""
    tab = stage.log_in(view="phone")
    names = dropped(stage)
    assert len(names) > 25, f"only {len(names)} names are taken"
    tab.goto(stage.url("/"))
    shown = tab.get_by_test_id("list.row").locator("bdi").all_text_contents()
    links = tab.get_by_test_id("list.row").evaluate_all("rows => rows.map(row => row.href)")
    assert len(links) == len(names) and not tab.evaluate(STRANGE), tab.evaluate(STRANGE)
    seen = []
    for link, name in zip(links, shown):
        assert link.startswith(stage.url("/conversation?name=")), link
        tab.goto(link)
        strange = tab.evaluate(STRANGE)
        assert not strange, f"{name}: {strange}"
        assert tab.get_by_test_id("conversation.name").text_content() == name
        assert tab.locator("h1").bounding_box()["width"] <= 390
        say(tab, f"answer {len(seen)}")
        until(lambda: has_left(tab), "it has left")
        assert tab.url == link, f"{tab.url} is not {link}"
        press(tab, "conversation.settings")
        assert not tab.evaluate(STRANGE), f"{name}: {tab.evaluate(STRANGE)}"
        assert tab.get_by_test_id("settings.back").evaluate("back => back.href") == link
        seen.append(name)
    until(lambda: not stage.waiting(), "all answers are sent")
    sent = [json.loads(line) for file in (stage.spool / "published").iterdir() for line in file.read_text().splitlines()]
    answers = sorted(line["conversation"] for line in sent if line.get("text", "").startswith("answer"))
    assert answers == sorted(names), set(names) ^ set(answers)


def test_a_combining_mark_does_not_break_out_of_an_attribute(stage):
    """A conversation named `"` and U+0301 and ` x=` gets no attribute `x`, on every page that has its name."""
    stage.start_daemon()
    name = "\"\u0301 x="
    client = stage.client(stage.start_page())
    tab = stage.open(stage.link())
    assert client.send(name, "hello").status == 303
    until(lambda: stage.sent() == 1, "it is sent")
    for url in [stage.url("/"), stage.url("/conversation", name), stage.url("/conversation/settings", name)]:
        tab.goto(url)
        assert tab.locator("[x]:not(rect)").count() == 0 and not tab.evaluate(STRANGE), tab.content()
    tab.goto(stage.url("/?filter=" + "%22%CC%81%20x%3D"))
    assert tab.locator("[x]:not(rect)").count() == 0 and tab.get_by_test_id("list.row").count() == 1


def test_texts_are_text(stage):
    """Every text is shown as it was written, while it waits and where sent texts are kept."""
    stage.configure("texts: keep\n")
    tab = stage.log_in()
    stage.stop_daemon()
    client = stage.client(stage.link())
    texts = [text for text in NAUGHTY if not text.isspace()] + ["first line\n  second line\n", "\u0007bell"]
    texts = [text for text in texts if client.send("family", text).status == 303]
    assert len(texts) > 30, texts
    shows_texts(stage, tab, texts)
    stage.start_daemon()
    until(lambda: stage.are_sent(len(texts)), "all are published")
    assert stage.texts("family") == [text.removesuffix("\n") for text in texts]
    shows_texts(stage, tab, texts)


def shows_texts(stage, tab, texts):
    tab.goto(stage.url("/conversation", "family"))
    assert not tab.evaluate(STRANGE), tab.evaluate(STRANGE)
    shown = tab.get_by_test_id("message.text").all_text_contents()
    others = [(was, now) for was, now in zip(texts, shown) if bare(was) != bare(now)]
    assert len(shown) == len(texts) and not others, others
    assert FAMILY in shown, "an emoji is taken apart"
    sideways = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert sideways <= 0, f"a long text makes the page {sideways} px wider"


def test_senders_and_errors_are_text(stage):
    """Senders, errors of a network and file names of photos are shown as text, on a page, in labels and in notices."""
    stage.program_as_network("receiving: {allowPrivate: true}\n")
    program = stage.directory / "network"
    program.write_text("#!/bin/sh\nprintf '%s\\n' '\"><img src=x onerror=\"1\"> <script>1</script>' >&2; exit 65\n")
    stage.start_daemon()
    server = stage.object_server()
    client = stage.client(stage.start_page())
    tab = stage.open(stage.link(), view="phone")
    photo = photograph(stage.directory, "1.jpg", 60, 40)
    senders = [sender for sender in NAUGHTY if sender.strip() and "\n" not in sender]
    for number, sender in enumerate(senders):
        stage.receive(server, f"n{number}", "family", photo, sender=sender)
    until(lambda: not list((stage.spool / "incoming" / "new").iterdir()), "all are taken")
    for name in [*NAUGHTY[:12], "../x.jpg", "a\"; name=\"id", "x\r\ny.jpg"]:
        assert client.send("files", photos=[(name, b"This is no photo.")]).status == 303, name
    assert client.send("errors", "refused").status == 303
    until(lambda: not stage.waiting() and len(stage.failed()) == 16, "all fail")
    for path in ["/", "/conversation?name=family", "/conversation?name=files", "/conversation?name=errors"]:
        tab.goto(stage.url(path))
        assert not tab.evaluate(STRANGE), f"{path}: {tab.evaluate(STRANGE)}"
        sideways = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert sideways <= 0, f"{path} is {sideways} px wider than the screen"
    assert "<script>1</script>" in tab.get_by_test_id("message.error").inner_text()
    until(lambda: len(stage.received()) > 25, "they are announced")
    received = {photo["sender"]: photo["message"] for photo in stage.received().values()}
    for sender, photo in received.items():
        tab.goto(stage.url(f"/photo/{photo}"))
        assert not tab.evaluate(STRANGE), f"{sender}: {tab.evaluate(STRANGE)}"
    names = [path.name for path in (stage.spool / "failed").rglob("photo*")]
    assert len(names) == 15 and all("/" not in name for name in names), names
    assert not [path for path in stage.directory.rglob("x.jpg")], "a file name led elsewhere"


def dropped(stage):
    """Sends a text to each name. Returns those that are names of conversations."""
    client = stage.client(stage.link())
    names = [name for name in NAUGHTY if client.send(name, "hello").status == 303]
    until(lambda: stage.sent() + len(stage.failed()) == len(names), "all are sent or refused")
    refused = [(stage.spool / "failed" / name / "to").read_text().removesuffix("\n") for name in stage.failed()]
    return [name for name in names if name not in refused]


def bare(text):
    """With invisible characters as they were before the page made them visible or harmless."""
    text = re.sub(r"\\u\{([0-9a-f]+)\}", lambda found: chr(int(found[1], 16)), text)
    return text.replace("\u200b", "").strip()
