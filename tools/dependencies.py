"""Fails for each dependency that a target declares and never imports, and for each one that a target of Sources has on one
listed above it: Package.swift reads from the top of the house to its ground."""
import json
import pathlib
import re
import subprocess
import sys

targets = json.loads(subprocess.check_output(["swift", "package", "dump-package"]))["targets"]
programs = {target["name"] for target in targets if target["type"] == "executable"}
wrong = []
above = set()
for target in targets:
    name = target["name"]
    parent = "Tests" if target["type"] == "test" else "Sources"
    files = pathlib.Path(target.get("path") or f"{parent}/{name}").rglob("*.swift")
    imports = set(re.findall(r"^(?:@\w+ )*import (?:\w+ )?(\w+)", "\n".join(file.read_text() for file in files), re.M))
    dependencies = [next(iter(dependency.values()))[0] for dependency in target["dependencies"]]
    # A program is depended on to be built.
    wrong += [f"{name} does not import {other}" for other in dependencies if other not in imports | programs]
    if parent == "Sources" and "path" not in target:
        wrong += [f"{name} depends on {other}, which is listed above it" for other in dependencies if other in above]
        above.add(name)
sys.exit("\n".join(f"Package.swift: {sentence}" for sentence in wrong) or None)
