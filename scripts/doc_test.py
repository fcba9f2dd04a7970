#!/usr/bin/env python3
"""Runs what the documentation shows: every ```console block of the README, CONTRIBUTING and the manual.

    scripts/doc_test.py [--program FILE] [--list] [DOCUMENT...]     scripts/doc_test.py --self-test

Each document is one session of bash in a clean clone of HEAD, with a home folder of its own and no terminal. Its blocks
run in order; `hydrant` is target/release/hydrant of this checkout. Where the checkout is as clean as the clone, `cargo` builds
the checkout in place of the clone, in which the same sources would all be compiled once more. In a block, `$ ` begins a command, which goes on while
bash finds it unfinished; the lines after it are what it has to print, on standard output and standard error together.

* `…` within a line stands for any text, alone on a line for any number of lines.
* A command with no lines after it may print anything.
* A command ends with status 0, unless the info string has a status for each command of the block: ```console status=0,4
* A command that ends with `&` is given time until it has printed what is shown.
* `<this repository>` stands for the path of this checkout.

In the info string, `json` compares without regard to white space, so that one line of JSON can be shown laid out;
`skip="REASON"` says why the block cannot run; `limit=SECONDS` replaces the time limit of a command.

What a session started ends with it. The exit status is 1 if any command did not do what its document shows.
"""
import argparse
import difflib
import fcntl
import json
import os
import pathlib
import queue
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
# Seconds. A command that builds says so with `limit=`.
TIME_LIMIT = 120
# More output than this from one command is not collected.
OUTPUT_LIMIT = 4 << 20
INFO = re.compile(r'\s*(?:(json)|skip="([^"]+)"|status=(\d+(?:,\d+)*)|limit=(\d+))(?=\s|$)')


class DocumentError(Exception):
    """A block that cannot be read."""


class Command:
    def __init__(self, line, text):
        self.line, self.text, self.expected = line, text, []


class Block:
    def __init__(self, line, info):
        self.line, self.json, self.skip, self.limit, self.statuses, self.commands = line, False, None, TIME_LIMIT, None, []
        at = 0
        while info[at:].strip():
            word = INFO.match(info, at)
            if not word:
                raise DocumentError(f"line {line}: not understood in the info string: {info[at:].strip()}")
            as_json, skip, statuses, limit = word.groups()
            self.json |= bool(as_json)
            self.skip = skip or self.skip
            self.statuses = [int(s) for s in statuses.split(",")] if statuses else self.statuses
            self.limit = int(limit) if limit else self.limit
            at = word.end()

    def finish(self):
        if not self.commands:
            raise DocumentError(f"line {self.line}: no command: a line that begins with `$ ` is missing")
        self.statuses = self.statuses or [0] * len(self.commands)
        if len(self.statuses) != len(self.commands):
            raise DocumentError(f"line {self.line}: {len(self.commands)} commands, {len(self.statuses)} statuses")


def unfinished(text):
    """Returns whether bash would wait for another line."""
    if re.search(r"(?<!\\)(\\\\)*\\$", text):
        return True
    said = subprocess.run(["bash", "-n"], input=text + "\n", capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    return bool(re.search(r"unexpected end of file|unexpected EOF|here-document .* delimited by end-of-file", said.stderr))


def parse(text):
    """Returns the console blocks of a Markdown document."""
    blocks, block, fence, indent = [], None, None, 0
    for number, line in enumerate(text.splitlines(), 1):
        opening = re.match(r"( *)(`{3,}|~{3,})(.*)$", line)
        if fence is None:
            if opening:
                indent, fence = len(opening[1]), opening[2]
                language, _, info = opening[3].strip().partition(" ")
                block = Block(number, info) if language == "console" else None
            continue
        if opening and opening[2].startswith(fence) and not opening[3].strip():
            if block:
                block.finish()
                blocks.append(block)
            fence, block = None, None
        elif block:
            line = line[indent:] if not line[:indent].strip() else line
            last = block.commands[-1] if block.commands else None
            if last and not last.expected and unfinished(last.text):
                last.text += "\n" + line
            elif line.startswith("$ "):
                block.commands.append(Command(number, line[2:]))
            elif last:
                last.expected.append(line)
            else:
                raise DocumentError(f"line {number}: output before the first command")
    if fence is not None:
        raise DocumentError("a fence is never closed")
    for command in (c for b in blocks if not b.skip for c in b.commands):
        while command.expected and not command.expected[-1].strip():
            command.expected.pop()
        if unfinished(command.text):
            raise DocumentError(f"line {command.line}: the command is not finished")
    return blocks


def matches(pattern, text):
    """Returns whether `text` is `pattern`, in which `…` stands for any text."""
    first, *rest = pattern.split("…")
    if not rest:
        return text == first
    if not text.startswith(first):
        return False
    at = len(first)
    for part in rest[:-1]:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return len(text) - at >= len(rest[-1]) and text.endswith(rest[-1])


def without_space(text):
    """Returns JSON without the white space around its tokens; strings stay as they are."""
    return "".join(t if t.startswith('"') else "".join(t.split()) for t in re.findall(r'"(?:[^"\\]|\\.)*"?|[^"]+', text))


def agrees(expected, got, as_json):
    """Returns whether the lines that were printed are those that are shown."""
    if as_json:
        return matches(without_space("\n".join(expected)), without_space("\n".join(got)))
    reached = {0}
    for line in expected:
        if line.strip() == "…":
            reached = set(range(min(reached), len(got) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(got) and matches(line.rstrip(), got[at])}
    return len(got) in reached


class Session:
    """One bash, in its own process group, that runs one command after the other."""

    def __init__(self, cwd, env, scratch):
        self.scratch, self.end, self.count = scratch, secrets.token_hex(16), 0
        self.shell = subprocess.Popen(["bash", "--noprofile", "--norc"], cwd=cwd, env=env, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        self.pieces = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while piece := os.read(self.shell.stdout.fileno(), 1 << 16):
            self.pieces.put(piece)
        self.pieces.put(None)

    def run(self, text, expected, as_json, limit):
        """Returns the status (None: none within the time limit) and what was printed, as lines."""
        self.count += 1
        script, apart = self.scratch / f"{self.count}.sh", self.scratch / f"{self.count}.out"
        script.write_text(text + "\n")
        # What a background command prints later does not belong to the commands after it.
        background = text.rstrip().endswith("&")
        to = f" >{shlex.quote(str(apart))} 2>&1" if background else ""
        deadline = time.monotonic() + limit
        try:
            self.shell.stdin.write(f"source {shlex.quote(str(script))} </dev/null{to}\nprintf '%s %s\\n' {self.end} $?\n".encode())
            self.shell.stdin.flush()
        except BrokenPipeError:
            return None, ["(the session has ended)"]
        printed = b""
        end = re.compile(rb"%s (\d+)\n" % self.end.encode())
        while not (found := end.search(printed, max(0, len(printed) - (1 << 16) - 64))):
            try:
                piece = self.pieces.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                return None, lines(printed) + [f"(no end within {limit} s)"]
            if piece is None:
                return None, lines(printed) + ["(the command ended the session)"]
            printed += piece
            if len(printed) > OUTPUT_LIMIT:
                return None, lines(printed)[:50] + [f"(more than {OUTPUT_LIMIT} bytes)"]
        got = lines(printed[: found.start()])
        while background and expected:
            got = lines(apart.read_bytes())
            if agrees(expected, got, as_json) or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        return int(found[1]), got

    def close(self):
        try:
            os.killpg(self.shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.shell.wait()


def lines(printed):
    got = [line.rstrip() for line in printed.decode(errors="replace").splitlines()]
    while got and not got[-1]:
        got.pop()
    return got


def target_folder():
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", CHECKOUT / "target")).resolve()


def laid_out(got):
    """Returns JSON as a document shows it, and anything else as it is."""
    try:
        return json.dumps(json.loads("\n".join(got)), indent=2, ensure_ascii=False).splitlines()
    except ValueError:
        return got


def plain_environment():
    """Returns the variables of this process without those that change what hydrant and git do."""
    changing = ("HYDRANT_", "PROVENACT_", "MIN_SIGNERS", "SOURCE_DATE_EPOCH", "CLICOLOR", "XDG_", "GIT_")
    return {name: value for name, value in os.environ.items() if not name.startswith(changing)}


def changed():
    """Returns what the checkout has that a clone of it has not."""
    return subprocess.run(["git", "status", "--porcelain"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout


def cargo_of_checkout(folder):
    """Writes a `cargo` into a folder that takes its manifest from this checkout."""
    folder.mkdir(parents=True)
    manifest = shlex.quote(str(CHECKOUT / "Cargo.toml"))
    cargo = shlex.quote(shutil.which("cargo") or "cargo")
    file = folder / "cargo"
    file.write_text(f'#!/bin/sh\ncommand=$1\nshift\nexec {cargo} "$command" --manifest-path {manifest} "$@"\n')
    file.chmod(0o755)


def environment(home, program):
    """Returns the variables of a session."""
    env = plain_environment()
    tools = pathlib.Path.home()
    if not changed():
        cargo_of_checkout(home / "checkout/bin")
        env["PATH"] = f"{home}/checkout/bin:{env['PATH']}"
    env.update(
        HOME=str(home), PATH=f"{program.parent}:{home}/.cargo/bin:{env['PATH']}", LC_ALL="C.UTF-8", TERM="dumb", NO_COLOR="1",
        CARGO_HOME=env.get("CARGO_HOME", str(tools / ".cargo")), RUSTUP_HOME=env.get("RUSTUP_HOME", str(tools / ".rustup")),
        CARGO_INSTALL_ROOT=str(home / ".cargo"),
        CARGO_TARGET_DIR=str(target_folder()),
        GIT_CONFIG_NOSYSTEM="1", GIT_AUTHOR_NAME="reader", GIT_AUTHOR_EMAIL="reader@example.org",
        GIT_COMMITTER_NAME="reader", GIT_COMMITTER_EMAIL="reader@example.org",
    )
    return env


def run_document(name, text, program, copy, folder, out):
    """Runs the blocks of one document in `folder`, which `copy` makes. Returns how many commands ran, how many failed, and the blocks
    that were left out."""
    ran, failed, skipped = 0, 0, []
    try:
        blocks = parse(text)
    except DocumentError as error:
        print(f"{name}: {error}", file=out)
        return 0, 1, []
    if all(block.skip for block in blocks):
        return 0, 0, [(f"{name}:{block.line}", block.skip) for block in blocks]
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="doc-test-"))
    session = None
    try:
        home, session_files = scratch / "home", scratch / "session"
        home.mkdir()
        session_files.mkdir()
        shutil.rmtree(folder, ignore_errors=True)
        copy(folder)
        session = Session(folder, environment(home, program), session_files)
        for block in blocks:
            if block.skip:
                skipped.append((f"{name}:{block.line}", block.skip))
                continue
            for command, status in zip(block.commands, block.statuses):
                shown = command.text.replace("<this repository>", shlex.quote(str(CHECKOUT)))
                ended, got = session.run(shown, command.expected, block.json, block.limit)
                ran += 1
                wrong_output = command.expected and not agrees(command.expected, got, block.json)
                if ended == status and not wrong_output:
                    continue
                failed += 1
                print(f"{name}:{command.line}: $ {command.text}", file=out)
                if ended != status:
                    print(f"  ended with {'no status' if ended is None else ended}, expected {status}", file=out)
                if wrong_output:
                    printed = laid_out(got) if block.json else got
                    diff = difflib.unified_diff(command.expected, printed, "shown", "printed", lineterm="", n=2)
                    print("\n".join("  " + line[:300] for line in list(diff)[:80]), file=out)
                else:
                    print("\n".join("  | " + line for line in got[-20:]), file=out)
                if ended is None:
                    print(f"{name}: the rest of the document was not run", file=out)
                    return ran, failed, skipped
    finally:
        if session:
            session.close()
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
    return ran, failed, skipped


def clone(target):
    subprocess.run(["git", "clone", "--quiet", "--local", str(CHECKOUT), str(target)], check=True, env=plain_environment())


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("documents", nargs="*", type=pathlib.Path)
    arguments.add_argument("--program", type=pathlib.Path, default=target_folder() / "release/hydrant")
    arguments.add_argument("--list", action="store_true", help="print the commands and run none")
    arguments.add_argument("--self-test", action="store_true", help="test this runner")
    args = arguments.parse_args()
    if args.self_test:
        import doc_test_self
        return doc_test_self.run()
    documents = [d.resolve() for d in args.documents] or [
        CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *sorted((CHECKOUT / "docs/src").rglob("*.md"))]
    if args.list:
        for document in documents:
            for block in parse(document.read_text()):
                for command in block.commands:
                    print(f"{os.path.relpath(document)}:{command.line}: {'(skipped) ' if block.skip else ''}{command.text}")
        return 0
    if not args.program.is_file():
        sys.exit(f"error: no program at {args.program}: build it with `cargo build --release`")
    if changed():
        print("note: there are uncommitted changes, which the clean clone does not have", file=sys.stderr)
    # A session ends with this process, also when somebody ends it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    ran, failed, skipped = 0, 0, []
    # Always the same folder: what cargo builds in it takes the place of what it built there before.
    folder = target_folder() / "doc-test"
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = open(folder.with_suffix(".lock"), "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    for document in documents:
        start = time.monotonic()
        name = os.path.relpath(document, CHECKOUT)
        counts = run_document(name, document.read_text(), args.program.resolve(), clone, folder, sys.stdout)
        ran, failed, skipped = ran + counts[0], failed + counts[1], skipped + counts[2]
        if counts[0]:
            print(f"{name}: {counts[0]} commands, {counts[1]} failed, {time.monotonic() - start:.0f} s", flush=True)
    print(f"{len(skipped)} blocks cannot run here:" if skipped else "every block ran")
    for where, reason in skipped:
        print(f"  {where}: {reason}")
    print(f"{ran} commands, {failed} failed")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
