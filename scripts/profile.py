#!/usr/bin/env python3
"""Where the time goes: shares of processor time by part, of the hot paths, a whole process and the service under load. And
where the bytes of the program go.

    scripts/profile.py [WORD ...]     those whose name holds a word; all of them without one

Takes perf, wrk for the service, nm and size, and the built program and benchmark (which it builds). A part is the module of hydrant or the
crate that a sample fell into, the guest (compiled code of a component), memory (malloc, memmove), or the system call or fault
that the kernel was at. Parts below 2 of 100 are added up.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/serve"))

from load import burst  # noqa: E402
from server import Server  # noqa: E402

TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
HYDRANT = TARGET / "release" / "hydrant"
RECORD = ["perf", "record", "--quiet", "--freq", "2000", "--call-graph", "fp"]
CARGO = ["--release", "--workspace", "--locked", "--quiet"]
SMALLEST = 2.0

NAME = re.compile(r"^[<&(*]*(?:mut |dyn |const )*([a-z_][a-z0-9_]*)((?:::[a-z_][a-z0-9_]*)*)")
MEMORY = re.compile(r"malloc|_int_free|cfree|free$|realloc|calloc|unlink_chunk|mem(move|cpy|set|cmp)|__rdl_|__rust_(de|re)?alloc")
SYSCALL = re.compile(r"^(?:__)?(?:x64_)?_*sys_([a-z0-9_]+)$|^__(?:x64|se|do)_sys_([a-z0-9_]+)$")
# Names that say who asked, not what is done.
GENERIC = {"core", "alloc", "std", "hashbrown", "indexmap"}


def part(frames):
    """The part that a sample belongs to; `frames` are (symbol, object), the innermost first."""
    symbol, owner = frames[0]
    if owner.endswith(".cwasm)") or owner.endswith(".cwasm"):
        return "guest"
    if "kernel" in owner or owner == "(vdso)":
        for name, at in frames:
            if "page_fault" in name:
                return "kernel: page faults"
            found = SYSCALL.match(name)
            if found and "kernel" in at:
                return "kernel: " + (found[1] or found[2])
        return "kernel: other"
    if MEMORY.search(symbol):
        return "memory"
    found = NAME.match(symbol)
    if not found or "libc" in owner:
        return "libc and C"
    crate, rest = found[1], found[2].split("::")[1:]
    if crate == "hydrant" or crate == "hydrant_govern":
        return "::".join([crate, *rest[:1]])
    if crate.startswith(("wasmtime", "cranelift")):
        return "wasmtime"
    return "std" if crate in GENERIC else crate


def shares(data):
    """Lines of share and part."""
    script = subprocess.run(
        ["perf", "script", "--no-inline", "-F", "ip,sym,dso", "-i", data],
        capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
    ).stdout
    counts = collections.Counter()
    for sample in script.split("\n\n"):
        frames = []
        for line in sample.splitlines():
            fields = line.split(None, 1)
            if len(fields) == 2:
                name, _, owner = fields[1].rpartition(" ")
                frames.append((name.split("+0x")[0], owner.strip("()")))
        if frames:
            counts[part(frames)] += 1
    total = sum(counts.values())
    small = 0.0
    for name, count in counts.most_common():
        share = 100 * count / total
        if share < SMALLEST:
            small += share
        else:
            print(f"  {share:5.1f} %  {name}")
    print(f"  {small:5.1f} %  all others, of {total} samples")


def benchmark():
    """The built benchmark of the hot paths."""
    built = subprocess.run(
        ["cargo", "bench", "--workspace", "--locked", "--no-run", "--quiet", "--bench", "instructions",
         "--message-format", "json"],
        cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True,
    ).stdout
    for line in built.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "instructions":
            return message["executable"]
    raise SystemExit("error: cargo does not say where the benchmark is")


def hot_path(name, calls):
    def record(data):
        subprocess.run([*RECORD, "-o", data, benchmark(), "--only", name, str(calls)], check=True)
    return record


def whole_process(data):
    uri = "os://agents/release-captain.md"
    hydrate = [str(HYDRANT), "hydrate", uri, "--root", str(ROOT / "examples/os")]
    subprocess.run(hydrate, check=True, stdout=subprocess.DEVNULL)
    again = 'for _ in $(seq 200); do "$@" >/dev/null || exit 1; done'
    subprocess.run([*RECORD, "-o", data, "sh", "-c", again, "sh", *hydrate], check=True)


def service(data):
    uri = "os://agents/release-captain.md"
    tenant = "concurrency = 64\nqueue = 4096\nconnections = 1000"
    with Server(tenant=tenant, serve="queue = 4096", os_root=ROOT / "examples/os") as server:
        # Of files that are new nothing is kept.
        time.sleep(3)
        burst(server, 64, 1, uri)
        perf = subprocess.Popen([*RECORD, "-o", data, "--pid", str(server.process.pid), "--", "sleep", "5"])
        burst(server, 64, 6, uri)
        perf.wait(timeout=60)


def bytes_of_the_program():
    """Sections, and code by crate."""
    sections = subprocess.run(["size", "-A", "-d", HYDRANT], capture_output=True, text=True, check=True).stdout
    sizes = {}
    for line in sections.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1].isdigit():
            sizes[fields[0]] = int(fields[1])
    crates = collections.Counter()
    symbols = subprocess.run(["nm", "-C", "-S", "--defined-only", HYDRANT], capture_output=True, text=True, check=True).stdout
    for line in symbols.splitlines():
        fields = line.split(None, 3)
        if len(fields) == 4 and fields[2] in "tTwW":
            crates[part([(fields[3], "")]).split("::")[0]] += int(fields[1], 16)
    mebibyte = 1024 * 1024
    print(f"  {HYDRANT.stat().st_size / mebibyte:5.1f} MiB  the file")
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        if size > mebibyte and name.startswith("."):
            print(f"  {size / mebibyte:5.1f} MiB  {name}")
    for name, size in crates.most_common():
        if size > mebibyte / 2:
            print(f"  {size / mebibyte:5.1f} MiB  code: {name}")


PROFILES = {
    "fresh instance and call": hot_path("fresh instance and call", 200_000),
    "hydrate 10 local skills": hot_path("hydrate 10 local skills", 20_000),
    "hydrate 1,000 local skills": hot_path("hydrate 1,000 local skills", 200),
    "hydrate, whole process": whole_process,
    "service under load": service,
    "bytes of the program": None,
}


def main():
    words = sys.argv[1:]
    subprocess.run(["cargo", "build", *CARGO], cwd=ROOT, check=True)
    for name, record in PROFILES.items():
        if words and not any(word in name for word in words):
            continue
        print(name)
        if record is None:
            bytes_of_the_program()
            continue
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, "perf.data")
            record(data)
            shares(data)


main()
