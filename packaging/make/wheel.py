"""The Python wheel: it holds the program alone, which `pip` puts among the commands."""

import base64
import hashlib

from files import zip_archive

SAME_NAME = b"""#!/bin/sh
exec "$(dirname "$0")/hydrant" "$@"
"""


def make(release, distribution):
    for program in release.programs.values():
        tags = _platforms(program)
        stem = f"{distribution.replace('-', '_')}-{release.version}"
        info = f"{stem}.dist-info"
        files = {f"{stem}.data/scripts/hydrant": (program.content, 0o755)}
        if distribution != "hydrant":
            # `uvx NAME` starts the command that is called like the package.
            files[f"{stem}.data/scripts/{distribution}"] = (SAME_NAME, 0o755)
        for name, content in release.documents(program).items():
            folder = "sboms" if name.endswith(".json") else "licenses"
            files[f"{info}/{folder}/{name}"] = (content, 0o644)
        metadata = release.template("wheel/METADATA", DISTRIBUTION=distribution)
        files[f"{info}/METADATA"] = (metadata.encode(), 0o644)
        wheel = ["Wheel-Version: 1.0", "Generator: hydrant packaging", "Root-Is-Purelib: false"]
        wheel += [f"Tag: py3-none-{tag}" for tag in tags]
        files[f"{info}/WHEEL"] = (("\n".join(wheel) + "\n").encode(), 0o644)
        record = [f"{name},sha256={_digest(content)},{len(content)}" for name, (content, _) in files.items()]
        record.append(f"{info}/RECORD,,")
        files[f"{info}/RECORD"] = (("\n".join(record) + "\n").encode(), 0o644)
        release.write(f"{stem}-py3-none-{'.'.join(tags)}.whl", zip_archive(files, release.epoch))


def _platforms(program):
    """Where it runs, in the order of the file's name: a static program everywhere, another with its glibc or a newer one."""
    if program.static:
        return [f"manylinux2014_{program.arch}", f"manylinux_2_17_{program.arch}", f"musllinux_1_1_{program.arch}"]
    return ["manylinux_%d_%d_%s" % (*program.glibc(), program.arch)]


def _digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
