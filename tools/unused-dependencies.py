"""Fails for each dependency that a target of the package declares and never imports."""
import json
import pathlib
import re
import subprocess
import sys

targets = json.loads(subprocess.check_output(["swift", "package", "dump-package"]))["targets"]
programs = {target["name"] for target in targets if target["type"] == "executable"}
unused = []
for target in targets:
    parent = "Tests" if target["type"] == "test" else "Sources"
    files = pathlib.Path(target.get("path") or f"{parent}/{target['name']}").rglob("*.swift")
    imports = set(re.findall(r"^(?:@\w+ )*import (?:\w+ )?(\w+)", "\n".join(file.read_text() for file in files), re.M))
    for dependency in target["dependencies"]:
        name = next(iter(dependency.values()))[0]
        # A program is depended on to be built.
        if name not in imports | programs:
            unused.append(f"Package.swift: {target['name']} does not import {name}")
sys.exit("\n".join(unused) or None)
