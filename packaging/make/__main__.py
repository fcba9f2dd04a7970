"""Makes every package of a release from built programs: `scripts/dist.sh` calls this.

    python3 packaging/make --out DIR [--repository OWNER/NAME] PROGRAM…
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import shutil
import subprocess

import archive
import claude_code
import container
import deb
import mcpb
import npm
import registry
import wheel
from program import Program
from release import PLACEHOLDER, ROOT, Release

# `hydrant` is somebody else's on PyPI.
PYPI_NAME = "hydrant-host"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--repository", default=PLACEHOLDER, metavar="OWNER/NAME")
    parser.add_argument("--pypi-name", default=PYPI_NAME, metavar="NAME")
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    arguments = parser.parse_args()
    programs = [Program(path) for path in arguments.programs]
    release = Release(programs, arguments.out.resolve(), arguments.repository, epoch())
    make_empty(release.out)
    # Most of it is compression, which Python does without its lock.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        makers = [pool.submit(maker.make, release) for maker in (deb, archive, npm, mcpb, claude_code, container)]
        makers.append(pool.submit(wheel.make, release, arguments.pypi_name))
        for maker in makers:
            maker.result()
    registry.make(release, arguments.pypi_name)
    checksums(release.out)


def make_empty(out):
    """Takes away what an earlier release left in `out`, and nothing that is no release."""
    if out.exists():
        if any(out.iterdir()) and not (out / "SHA256SUMS").exists():
            raise SystemExit(f"error: {out} has files, but is no folder of a release")
        shutil.rmtree(out)
    out.mkdir(parents=True)
    # So that what breaks off is known for a release as well.
    (out / "SHA256SUMS").touch()


def epoch():
    """The time that every file is given: $SOURCE_DATE_EPOCH, else that of the commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        command = ["git", "log", "-1", "--format=%ct"]
        given = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return int(given)


def checksums(out):
    """SHA256SUMS of all files that are published: not of the container's context."""
    files = sorted(path for path in out.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (out / "SHA256SUMS").write_text("".join(lines))


main()
