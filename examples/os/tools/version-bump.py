#!/usr/bin/env python3
"""Prints the version that follows a version.

    version-bump.py 2.3.1 minor     prints 2.4.0

Below 1.0.0 a major change raises the minor number and every other change the patch number.
"""

import re
import sys

DESCRIPTION = "Prints the semantic version that follows a version after a major, minor or patch change"
VERSION = re.compile(r"v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)")


def bump(major, minor, patch, level):
    if major == 0:
        return (0, minor + 1, 0) if level == "major" else (0, minor, patch + 1)
    if level == "major":
        return (major + 1, 0, 0)
    if level == "minor":
        return (major, minor + 1, 0)
    return (major, minor, patch + 1)


def main(arguments):
    if arguments == ["--description"]:
        print(DESCRIPTION)
        return 0
    if arguments == ["--help"]:
        print(f"{DESCRIPTION}.\n\nusage: version-bump.py VERSION major|minor|patch")
        return 0
    version = VERSION.fullmatch(arguments[0]) if len(arguments) == 2 else None
    if version is None or arguments[1] not in ("major", "minor", "patch"):
        print("usage: version-bump.py VERSION major|minor|patch", file=sys.stderr)
        return 2
    numbers = bump(*map(int, version.groups()), arguments[1])
    print(".".join(map(str, numbers)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
