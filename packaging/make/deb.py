"""The Debian package: the program, its manual pages and completions, and the service, which stays off until it is set up."""

import os
import pathlib
import subprocess
import tempfile

from release import PACKAGING, ROOT, SHELLS

COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/hydrant",
    "zsh": "usr/share/zsh/vendor-completions/_hydrant",
    "fish": "usr/share/fish/vendor_completions.d/hydrant.fish",
}
DOC = "usr/share/doc/hydrant"
SCRIPTS = ["postinst", "prerm", "postrm"]


def make(release):
    for program in release.programs.values():
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder) / "root"
            size = sum(_put(root, name, content, mode, release.epoch) for name, (content, mode) in _files(release, program).items())
            libc = "" if program.static else "libc6 (>= %d.%d)" % program.glibc()
            control = release.template(
                "debian/control",
                ARCH=program.debian_arch,
                SIZE=str(-(-size // 1024)),
                DEPENDS=f"Depends: {libc}\n" if libc else "",
            )
            _put(root, "DEBIAN/control", control.encode(), 0o644, release.epoch)
            for script in SCRIPTS:
                _put(root, f"DEBIAN/{script}", (PACKAGING / "debian" / script).read_bytes(), 0o755, release.epoch)
            for directory in [root, *(path for path in root.rglob("*") if path.is_dir())]:
                directory.chmod(0o755)
            file = release.out / f"hydrant_{release.version}_{program.debian_arch}.deb"
            file.unlink(missing_ok=True)
            subprocess.run(
                ["dpkg-deb", "--root-owner-group", "-Zxz", "-z3", "--build", str(root), str(file)],
                env={**os.environ, "SOURCE_DATE_EPOCH": str(release.epoch)},
                check=True,
                stdout=subprocess.DEVNULL,
            )


def _files(release, program):
    files = {
        "usr/bin/hydrant": (program.content, 0o755),
        "usr/lib/systemd/system/hydrant.service": (release.read("deploy/systemd/hydrant.service"), 0o644),
        "usr/lib/sysusers.d/hydrant.conf": (release.read("deploy/systemd/hydrant.sysusers"), 0o644),
        f"{DOC}/trusted.conf": (release.read("deploy/systemd/trusted.conf"), 0o644),
        f"{DOC}/copyright": (release.template("debian/copyright").encode(), 0o644),
        f"{DOC}/changelog.gz": (release.zipped(release.read("CHANGELOG.md")), 0o644),
        f"{DOC}/THIRD-PARTY-LICENSES.txt.gz": (release.zipped(release.licences[program.arch]), 0o644),
        f"{DOC}/hydrant.cdx.json.gz": (release.zipped(release.sboms[program.arch]), 0o644),
    }
    for shell in SHELLS:
        files[COMPLETIONS[shell]] = (release.completions[shell], 0o644)
    for page, content in release.manual.items():
        files[f"usr/share/man/man1/{page}.gz"] = (release.zipped(content), 0o644)
    examples = ROOT / "examples/serve"
    for path in examples.rglob("*"):
        if path.is_file():
            files[f"{DOC}/examples/serve/{path.relative_to(examples)}"] = (path.read_bytes(), 0o644)
    return files


def _put(root, name, content, mode, epoch):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    os.utime(path, (epoch, epoch))
    return len(content)
