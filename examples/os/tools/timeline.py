#!/usr/bin/env python3
"""Sorts incident notes by time and prints them as a Markdown table.

Reads lines such as `2026-03-04T14:07Z observed Checkout fails` from standard input. Lines that do not have this
form are repeated on standard error and make the exit status 1; nothing is dropped in silence.
"""

import re
import sys

DESCRIPTION = "Sorts incident notes from standard input by time and prints them as a Markdown table"
NOTE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\dZ)\s+(observed|decided|changed|asked)\s+(\S.*)")


def main(arguments):
    if arguments == ["--description"]:
        print(DESCRIPTION)
        return 0
    if arguments == ["--help"]:
        print(f"{DESCRIPTION}.\n\nusage: timeline.py < notes.txt")
        return 0
    if arguments:
        print("usage: timeline.py < notes.txt", file=sys.stderr)
        return 2
    notes, status = [], 0
    for number, line in enumerate(sys.stdin, start=1):
        note = NOTE.fullmatch(line.strip())
        if note:
            notes.append(note.groups())
        elif line.strip():
            print(f"line {number} is no note: {line.strip()}", file=sys.stderr)
            status = 1
    print("| time (UTC) | kind | event |\n|---|---|---|")
    for time, kind, event in sorted(notes, key=lambda note: note[0]):
        print(f"| {time} | {kind} | {event.replace('|', chr(92) + '|')} |")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
