"""Reads metrics from standard input with Prometheus' own parser and prints them as JSON; what breaks the conventions of
names, types and units ends it with a sentence."""
import json
import sys

from prometheus_client.parser import text_string_to_metric_families

text = sys.stdin.read()
assert text == "" or text.endswith("\n"), "the last line does not end"
declared = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")]
helped = [line.split()[2] for line in text.splitlines() if line.startswith("# HELP ")]
assert declared == helped, f"HELP and TYPE do not belong together: {declared} {helped}"
assert len(set(declared)) == len(declared), "a family is there twice"
families = []
seen = set()
for family in text_string_to_metric_families(text):
    assert family.name.startswith("photospool_"), family.name
    assert family.type != "unknown", f"{family.name} has no type"
    assert family.documentation.endswith("."), f"{family.name}: {family.documentation}"
    assert not any(unit in family.name for unit in ("_ms", "_millis", "_kb", "_minutes")), family.name
    if family.type == "counter":
        assert all(sample.name.endswith("_total") for sample in family.samples), family.name
    for sample in family.samples:
        key = (sample.name, tuple(sorted(sample.labels.items())))
        assert key not in seen, f"{key} is there twice"
        seen.add(key)
    families.append({
        "name": family.name, "type": family.type, "help": family.documentation,
        "samples": [{"name": s.name, "labels": s.labels, "value": s.value} for s in family.samples],
    })
json.dump(families, sys.stdout)
