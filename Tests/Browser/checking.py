"""The checks and the metrics: the page says what the commands say."""

import json

from scene import Scene
from stage import press


def test_sentences_are_those_of_the_command(stage):
    """Check now shows a line for each check of `check`, with its sentence, also for what is broken: a program that is
    missing, a store that cannot be reached."""
    stage.program_as_network("store: {type: s3, endpoint: 'http://127.0.0.1:9', bucket: photos, region: x, "
                             f"accessKeyFile: {stage.directory}/key, secretKeyFile: {stage.directory}/key}}\n")
    key = stage.directory / "key"
    key.write_text("key\n")
    key.chmod(0o600)
    tab = stage.log_in()
    tab.goto(stage.url("/check"))
    assert tab.get_by_test_id("check.none").count() == 1
    for broken in [False, True]:
        if broken:
            (stage.directory / "network").unlink()
        lines = [json.loads(line) for line in stage.run("check", "--json", status=78).splitlines()]
        said = {line["subject"]: line["sentence"] for line in lines}
        press(tab, "check.now")
        shown = {row.locator("b").inner_text(): row.get_by_test_id("check.sentence").inner_text()
                 for row in tab.get_by_test_id("check.outcome").all()}
        assert {"daemon", "disk", "ledger", "darkroom", "store s3", "network exec"} <= set(shown), shown
        for subject, sentence in shown.items():
            # The free room and the time of an answer change.
            if subject not in ["disk"]:
                assert said[subject] == sentence, f"{subject}: {sentence} | {said[subject]}"
        assert ("to mend" in tab.get_by_test_id("check.summary").inner_text())
    stage.picture(tab, "check-broken")


def test_every_kind_of_destination_is_judged_as_by_the_command(stage):
    """A store and a network of every kind, each of them broken, stand on the page with the sentences of
    `check --running`."""
    for name, text in [("key", "key\n"), ("hook", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n")]:
        (stage.directory / name).write_text(text)
        (stage.directory / name).chmod(0o600)
    away, key = "http://127.0.0.1:9", stage.directory / "key"
    stage.configure(f"""
stores:
  bucket: {{type: s3, endpoint: '{away}', bucket: b, region: x, accessKeyFile: {key}, secretKeyFile: {key}}}
  urls: {{type: presigned, endpoint: '{away}/'}}
  media: {{type: matrix, homeserver: '{away}', tokenFile: {key}}}
  google: {{type: gcs, bucket: b, emulator: '{away}'}}
  files: {{type: directory, directory: {stage.directory}/objects}}
networks:
  rooms: {{type: matrix, homeserver: '{away}', tokenFile: {key}, store: media, seal: matrix}}
  hooks: {{type: webhook, url: '{away}/', allowPrivate: true, secretFile: {stage.directory}/hook, store: urls}}
  program: {{type: exec, program: {stage.directory}/nothing, store: bucket}}
  people: {{type: xmtp, endpoint: '127.0.0.1:9', keyFile: {key}, store: google}}
  app: {{type: firestore, project: project-1, emulator: '{away}', store: files}}
routes:
  - {{conversation: a, network: rooms}}
  - {{conversation: b, network: hooks}}
  - {{conversation: c, network: program}}
  - {{conversation: d, network: people}}
  - {{conversation: e, network: app}}
""")
    stage.start_daemon()
    client = stage.client(stage.start_page())
    (stage.directory / "objects").rmdir()
    assert client.post("/check").status == 303
    tab = stage.open(cookies=client.cookie)
    tab.goto(stage.url("/check"))
    shown = {row.locator("b").inner_text(): (row.get_by_test_id("check.sentence").inner_text(), "faulty" in (
        row.get_attribute("class") or "")) for row in tab.get_by_test_id("check.outcome").all()}
    lines = [json.loads(line) for line in stage.run("check", "--running", "--json", status=78).splitlines()]
    said = {line["subject"]: (line["sentence"], not line["good"]) for line in lines}
    assert {f"{kind} {name}" for kind, name in [
        ("store", "bucket"), ("store", "urls"), ("store", "media"), ("store", "google"), ("store", "files"),
        ("network", "rooms"), ("network", "hooks"), ("network", "program"), ("network", "people"), ("network", "app"),
    ]} <= set(said), said
    others = {subject: (sentence, shown.get(subject)) for subject, sentence in said.items() if shown.get(subject) != sentence}
    assert not others, others
    assert sum(is_bad for _, is_bad in said.values()) >= 9, said
    assert shown["web page"][0].startswith("last started at http://") and "1 session" in shown["web page"][0]
    stage.picture(tab, "check-all")


def test_without_a_daemon_check_says_how_to_start_it(stage):
    """Without a daemon the page of checks is there, and Check now names the command."""
    tab = stage.log_in()
    stage.stop_daemon()
    tab.goto(stage.url("/check"))
    press(tab, "check.now")
    assert "photospool run" in tab.get_by_test_id("problem.main").inner_text()


def test_metrics_are_those_of_the_command(stage):
    """`/metrics.txt` is what `metrics` prints, and the plots count what was sent and what failed."""
    scene = Scene(stage)
    tab = stage.open(cookies=scene.client.cookie)
    text = scene.client.get("/metrics.txt")
    assert text.headers["Content-Type"].startswith("text/plain")

    def steady(lines):
        return [line for line in lines.splitlines() if "duration" not in line and "timestamp" not in line]

    assert steady(text.text) == steady(stage.run("metrics"))
    for path in ["/metrics", "/metrics?days=7"]:
        tab.goto(stage.url(path))
        numbers = tab.get_by_test_id("metrics.numbers").inner_text().split()
        assert "1" in numbers, numbers
        assert tab.get_by_test_id("metrics.sent").locator("rect").count() == 1
        assert tab.get_by_test_id("metrics.failed").locator("rect").count() == 1
        assert tab.get_by_test_id("metrics.sent").locator("td").first.text_content() == "1"
