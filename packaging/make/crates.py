"""The crates that are in the program: those of the host, and those that the pinned components are made of."""

import json
import re
import subprocess
import tomllib

# A line of `cargo tree --prefix depth`: depth, name, version, and what does not matter here.
LINE = re.compile(r"(\d+)([A-Za-z0-9_-]+) v(\S+)")


class Crates:
    """The packages and what each needs, by (name, version)."""

    def __init__(self, root, target):
        self.root = root
        command = ["cargo", "metadata", "--locked", "--format-version=1"]
        described = json.loads(self._output(command))["packages"]
        skills = [p["name"] for p in described if "/guest/" in p["manifest_path"] and p["source"] is None]
        self._described = {(package["name"], package["version"]): package for package in described}
        self.edges = {}
        self._walk(["hydrant"], target)
        self._walk(skills, "wasm32-wasip2")
        self.packages = {crate: self._described[crate] for crate in self.edges}
        self.program = next(package for package in described if package["name"] == "hydrant")
        lock = tomllib.loads((root / "Cargo.lock").read_text())
        self._checksums = {(p["name"], p["version"]): p.get("checksum") for p in lock["package"]}

    def _output(self, command):
        return subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout

    def _walk(self, names, target):
        """Adds what `cargo tree` says is linked: not what only tests, build scripts and macros need, which metadata has too."""
        command = ["cargo", "tree", "--locked", "--prefix", "depth", "--target", target]
        command += ["--edges", "normal,no-proc-macro", "--format", "{p}"]
        for name in names:
            command += ["--package", name]
        path = []
        for line in filter(None, self._output(command).splitlines()):
            depth, *crate = LINE.match(line).groups()
            path[int(depth) :] = [tuple(crate)]
            self.edges.setdefault(path[-1], set())
            if len(path) > 1:
                self.edges[path[-2]].add(path[-1])

    def checksum(self, package):
        """The SHA-256 of the crate's archive; None for a crate of this repository."""
        return self._checksums[package["name"], package["version"]]

    def foreign(self):
        """The crates of others, by name and version."""
        return [package for _, package in sorted(self.packages.items()) if package["source"] is not None]
