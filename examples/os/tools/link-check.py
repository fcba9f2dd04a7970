#!/usr/bin/env python3
"""Lists the relative links of Markdown files that lead nowhere, as FILE:LINE: TARGET. Opens no network connection."""

import pathlib
import re
import sys
import urllib.parse

DESCRIPTION = "Lists relative links in Markdown files that lead to no file; never touches the network"
USAGE = "usage: link-check.py FILE…"
LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def dead_links(page):
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if fenced:
            continue
        for target in LINK.findall(line):
            path = urllib.parse.unquote(target.split("#", 1)[0])
            if path and not SCHEME.match(target) and not (page.parent / path).exists():
                yield number, target


def main(arguments):
    if arguments == ["--description"]:
        print(DESCRIPTION)
        return 0
    if arguments == ["--help"]:
        print(f"{DESCRIPTION}.\n\n{USAGE}\n\nExits with 1 if there is a dead link.")
        return 0
    if not arguments or arguments[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 2
    dead = [(page, *link) for page in map(pathlib.Path, arguments) for link in dead_links(page)]
    for page, number, target in dead:
        print(f"{page}:{number}: {target}")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
