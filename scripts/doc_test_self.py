"""Tests of doc_test.py: `scripts/doc_test.py --self-test`. Most are documents that must fail."""
import io
import os
import pathlib
import tempfile
import time

import doc_test


def outcome(text):
    """Runs a document in an empty folder. Returns commands, failures, skipped blocks and the report."""
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "clone"
        counts = doc_test.run_document("self.md", text, pathlib.Path("/bin/true"), lambda at: at.mkdir(), folder, out)
    return *counts, out.getvalue()


def block(body, info=""):
    return f"text\n\n```console{' ' + info if info else ''}\n{body}\n```\n"


HOLD = {
    "output as shown": block("$ printf 'a\\nb\\n'\na\nb"),
    "standard error belongs to the output": block("$ echo no >&2\nno"),
    "a part of a line is elided": block("$ echo one two three\none … three"),
    "lines are elided": block("$ seq 9\n1\n…\n9"),
    "no line is elided": block("$ echo 1\n1\n…"),
    "output that is not shown": block("$ echo anything\n$ echo else"),
    "a status that is said": block("$ true\n$ (exit 3)", "status=0,3"),
    "the session goes on in the next block": block("$ word=kept; cd /") + block("$ echo $word $PWD\nkept /"),
    "a command of several lines": block("$ echo a \\\n    b\na b"),
    "a quote that is open": block("$ echo 'a\n$ b' | tr -d '$'\na\n b"),
    "a here-document": block("$ tr -d '$' <<'END'\n$ a\nEND\n a"),
    "JSON that is laid out": block('$ echo \'{"a":[1,"x  y"],"b":{}}\'\n{\n  "a": [1, "x  y"],\n  "b": {}\n}', "json"),
    "JSON with a part elided": block('$ echo \'{"a":[1,2,3],"b":"long text"}\'\n{\n  "a": [\n    1,\n    …\n  ],\n  "b": "long …"\n}', "json"),
    "JSON that breaks off in a string": block("$ echo '{\"a\": \"long text\"}'\n{\"a\":\"long t…", "json"),
    "a background command is waited for": block("$ (sleep 0.5; echo ready; sleep 60) &\nready"),
    "nothing reads the rest of the session": block("$ cat\n$ echo still\nstill"),
    "other fences are text": "```text\n$ false\n```\n\n````markdown\n```console\n$ false\n```\n````\n" + block("$ true"),
    "a home of its own": block("$ ls -A ~; test \"$HOME\" != \"" + os.environ.get("HOME", "") + "\""),
}
FAIL = {
    "another output": block("$ echo a\nb"),
    "a line more": block("$ seq 3\n1\n2"),
    "a line less": block("$ seq 2\n1\n2\n3"),
    "elided lines before one that does not come": block("$ seq 9\n1\n…\n8"),
    "the end of a line": block("$ echo one two\none … three"),
    "a status": block("$ false"),
    "a status although the output is right": block("$ echo a; false\na"),
    "status 0 where another is said": block("$ true", "status=1"),
    "fewer statuses than commands": block("$ true\n$ true", "status=0"),
    "JSON of another value": block("$ echo '{\"a\":1}'\n{\"a\": 2}", "json"),
    "JSON with white space in a string": block("$ echo '{\"a\":\"x y\"}'\n{\"a\": \"x  y\"}", "json"),
    "a background command that does not say it": block("$ (echo other; sleep 60) &\nready", "limit=1"),
    "a command that does not end": block("$ sleep 60", "limit=1"),
    "a command that ends the session": block("$ exit 0"),
    "a command that is not finished": block("$ echo 'a"),
    "a block without a command": block("hydrant doctor"),
    "output before a command": block("a\n$ echo a"),
    "a word of the info string that is not known": block("$ true", "norun"),
    "a skip without a reason": block("$ true", 'skip=""'),
    "a fence that is never closed": "```console\n$ true\n",
    "a program that is not there": block("$ no-such-program-at-all"),
}


def run():
    wrong = []
    for name, text in HOLD.items():
        ran, failed, _, report = outcome(text)
        if failed or not ran:
            wrong.append(f"must hold: {name}\n{report}")
    for name, text in FAIL.items():
        if not outcome(text)[1]:
            wrong.append(f"must fail: {name}")
    _, failed, _, report = outcome(block("$ true") + block("$ echo printed\nshown"))
    if failed != 1 or not all(part in report for part in ("self.md:9: $ echo printed", "-shown", "+printed")):
        wrong.append(f"a failure names its file, line, command and difference\n{report}")
    ran, failed, skipped, _ = outcome(block("$ false", 'skip="needs a browser"'))
    if (ran, failed, skipped) != (0, 0, [("self.md:3", "needs a browser")]):
        wrong.append("a skipped block is counted with its reason")
    with tempfile.TemporaryDirectory() as folder:
        outcome(block(f"$ (sleep 1; touch {folder}/late) &"))
        time.sleep(1.5)
        if os.listdir(folder):
            wrong.append("a background command ends with its session")
    for failure in wrong:
        print(failure)
    print(f"{len(HOLD) + len(FAIL) + 3} cases, {len(wrong)} wrong")
    return 1 if wrong else 0
