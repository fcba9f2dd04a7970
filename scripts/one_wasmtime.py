#!/usr/bin/env python3
"""Checks that a build compiles wasmtime once: for the program and for the build script of `host/precompiled` together.

    scripts/one_wasmtime.py

Cargo shares a crate between a build script and the program if all that it is made of has the same features in both. Where a
new dependency changes a feature, this prints the crates that differ, with the features that only one side has. Add them to
`host/precompiled/Cargo.toml`. Builds nothing.
"""

import collections
import json
import os
import subprocess
import sys

GRAPHS = [["build", "--bin", "hydrant"], ["test", "--workspace", "--no-run"]]


def units(command):
    """Every compiled library of the command, by package and name of the target."""
    environment = dict(os.environ, RUSTC_BOOTSTRAP="1")
    graph = subprocess.run(
        ["cargo", *command, "--release", "--locked", "--unit-graph", "-Z", "unstable-options"],
        env=environment, check=True, stdout=subprocess.PIPE,
    )
    libraries = collections.defaultdict(list)
    for unit in json.loads(graph.stdout)["units"]:
        if unit["mode"] == "build" and "lib" in unit["target"]["kind"]:
            libraries[unit["pkg_id"].rsplit("/", 1)[-1]].append(unit)
    return libraries


def main():
    failed = False
    for command in GRAPHS:
        libraries = units(command)
        if len(libraries[next(name for name in libraries if "#wasmtime@" in name)]) == 1:
            continue
        failed = True
        print(f"cargo {' '.join(command)}: wasmtime is compiled more than once, because these differ:")
        for name, copies in sorted(libraries.items()):
            features = [set(unit["features"]) for unit in copies]
            profiles = {json.dumps(unit["profile"], sort_keys=True) for unit in copies}
            common = set.intersection(*features)
            extra = [sorted(one - common) for one in features]
            if any(extra) or len(profiles) > 1:
                print(f"  {name}: {extra}{', and flags' if len(profiles) > 1 else ''}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
