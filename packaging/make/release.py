"""One release: its version, its programs, and the documents that go with them."""

import gzip
import pathlib
import re
import subprocess
import tempfile

from crates import Crates
from files import filled_in
from licences import third_party
from sbom import sbom

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
SHELLS = {"bash": "hydrant.bash", "zsh": "_hydrant", "fish": "hydrant.fish"}
# Of nobody, so that what is made without --repository cannot be mistaken for a release.
PLACEHOLDER = "OWNER/hydrant"


class Release:
    """What all packages are made from; `out` is where they go."""

    def __init__(self, programs, out, repository, epoch):
        self.programs = {program.arch: program for program in programs}
        if len(self.programs) != len(programs):
            raise SystemExit("error: two programs for one processor")
        self.out, self.epoch = out, epoch
        owner, name = self._repository(repository)
        self.crates = {arch: Crates(ROOT, program.target) for arch, program in self.programs.items()}
        self.version = next(iter(self.crates.values())).program["version"]
        self.licences = {arch: third_party(self.crates[arch], program) for arch, program in self.programs.items()}
        self.sboms = {arch: sbom(self.crates[arch], program, epoch) for arch, program in self.programs.items()}
        self.values = {
            "VERSION": self.version,
            "REPOSITORY": f"{owner}/{name}",
            "OWNER": owner,
            # The registry's namespaces are case-sensitive, and GitHub's begin so.
            "MCP_NAME": f"io.github.{owner}/{name}",
            "LICENSE": self.crates[next(iter(self.crates))].program["license"],
        }
        self.manual, self.completions = self._generated()

    @staticmethod
    def _repository(repository):
        match = re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9-]*)/([A-Za-z0-9._-]+)", repository)
        if not match:
            raise SystemExit(f"error: --repository {repository!r} is not OWNER/NAME")
        return match.groups()

    def _generated(self):
        """Manual pages by name, and completions by shell: from a program that runs here."""
        program = next((program for program in self.programs.values() if program.runs_here()), None)
        if program is None:
            raise SystemExit("error: no program runs here; the manual pages are made by one that does")
        spoken = self._run(program, "--version").decode().split()[-1]
        if spoken != self.version:
            raise SystemExit(f"error: {program.path} is version {spoken}, Cargo.toml says {self.version}")
        with tempfile.TemporaryDirectory() as folder:
            self._run(program, "man", "--dir", folder)
            manual = {page.name: page.read_bytes() for page in pathlib.Path(folder).iterdir()}
        return manual, {shell: self._run(program, "completions", shell) for shell in SHELLS}

    @staticmethod
    def _run(program, *arguments):
        return subprocess.run([program.path, *arguments], check=True, capture_output=True).stdout

    def template(self, name, **more):
        """The text of a file of `packaging/`, filled in."""
        return filled_in(PACKAGING / name, {**self.values, **more})

    def read(self, name):
        """The bytes of a file of the repository."""
        return (ROOT / name).read_bytes()

    def documents(self, program):
        """What goes with every copy of the program: licences, and what is in it."""
        return {
            "LICENSE-MIT": self.read("LICENSE-MIT"),
            "LICENSE-APACHE": self.read("LICENSE-APACHE"),
            "THIRD-PARTY-LICENSES.txt": self.licences[program.arch],
            "hydrant.cdx.json": self.sboms[program.arch],
        }

    def zipped(self, content):
        """`content` as Debian wants it: gzip without a name or a time."""
        return gzip.compress(content, compresslevel=9, mtime=0)

    def write(self, name, content):
        """Puts a file into the folder of the release."""
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path
