"""What a binary says of itself: its processor, whether it is static, and which C library it needs."""

import pathlib
import re
import struct
import subprocess

MACHINES = {62: "x86_64", 183: "aarch64"}
PT_INTERP = 3


class Program:
    """An ELF executable for 64-bit Linux."""

    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        try:
            self.content = self.path.read_bytes()
        except OSError as error:
            raise SystemExit(f"error: {path}: {error.strerror}") from None
        head = self.content[:64]
        if head[:6] != b"\x7fELF\x02\x01" or len(head) < 64:
            raise SystemExit(f"error: {path} is no 64-bit little-endian ELF file")
        machine = struct.unpack_from("<H", head, 18)[0]
        if machine not in MACHINES:
            raise SystemExit(f"error: {path} is for ELF machine {machine}, which nothing here packages")
        self.arch = MACHINES[machine]
        self.static = PT_INTERP not in self._segment_types(head)

    def _segment_types(self, head):
        offset, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
        return {struct.unpack_from("<I", self.content, offset + size * i)[0] for i in range(count)}

    @property
    def target(self):
        """The Rust target that it was built for."""
        return f"{self.arch}-unknown-linux-{'musl' if self.static else 'gnu'}"

    @property
    def debian_arch(self):
        return {"x86_64": "amd64", "aarch64": "arm64"}[self.arch]

    @property
    def node_arch(self):
        return {"x86_64": "x64", "aarch64": "arm64"}[self.arch]

    def glibc(self):
        """The oldest glibc that has every symbol it names, as (2, N)."""
        listing = subprocess.run(
            ["readelf", "--version-info", "--wide", str(self.path)], check=True, capture_output=True, text=True
        ).stdout
        return max((2, int(minor)) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", listing))

    def runs_here(self):
        """Whether this machine runs it."""
        try:
            return subprocess.run([self.path, "--version"], capture_output=True).returncode == 0
        except OSError:
            return False
