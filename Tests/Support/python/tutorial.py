"""The commands of a tutorial, and the output that it prints below them.

tutorial.py cut PAGE DIRECTORY      each block of commands as NUMBER.sh, and the output that follows it as NUMBER.txt
tutorial.py compare PRINTED FOUND   whether the output is as printed; a line `…` stands for any lines
"""

import re
import sys


def cut(page, directory):
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", open(page, encoding="utf-8").read(), re.M | re.S)
    number = 0
    for kind, text in blocks:
        number += kind == "sh"
        if kind in ("sh", "text"):
            with open(f"{directory}/{number:02}.{'sh' if kind == 'sh' else 'txt'}", "w", encoding="utf-8") as file:
                file.write(text)


def compare(printed, found):
    printed, found = (open(name, encoding="utf-8").read() for name in (printed, found))
    pattern = "".join("(?:.*\n)*" if line == "…" else re.escape(line) + "\n" for line in printed.splitlines())
    if not re.fullmatch(pattern, found):
        sys.exit(f"the page prints\n{printed}and the commands\n{found}")


{"cut": cut, "compare": compare}[sys.argv[1]](*sys.argv[2:])
