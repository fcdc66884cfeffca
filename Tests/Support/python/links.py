"""The links of all Markdown below a directory: prints those that lead to no file or heading, or how many there are."""

import pathlib
import re
import sys
import urllib.parse


def headings(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    for title in re.findall(r"^#+ (.*)$", text, re.M):
        # As GitHub names them.
        yield re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower()).replace(" ", "-")


root, count, wrong = pathlib.Path(sys.argv[1]).resolve(), 0, []
for page in sorted(root.rglob("*.md")):
    name = page.relative_to(root)
    if any(part.startswith(".") for part in name.parts):
        continue
    for link in re.findall(r"\[[^]]*\]\(([^)\s]+)\)", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, heading = urllib.parse.unquote(link).partition("#")
        target = page if not path else (page.parent / path).resolve()
        count += 1
        if not target.exists():
            wrong.append(f"{name}: {path} is not there")
        elif heading and target.suffix == ".md" and heading not in headings(target):
            wrong.append(f"{name}: #{heading} is no heading" if target == page else f"{name}: {link} is no heading")
print("\n".join(wrong) or count)
sys.exit(bool(wrong))
