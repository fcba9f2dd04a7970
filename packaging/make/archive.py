"""The archive for everybody: the program with manual pages, completions, licences and SBOM."""

from files import tar_gz
from release import SHELLS


def make(release):
    for program in release.programs.values():
        name = f"hydrant-{release.version}-{program.target}"
        files = {"hydrant": (program.content, 0o755)}
        for document in ("README.md", "CHANGELOG.md"):
            files[document] = (release.read(document), 0o644)
        for document, content in release.documents(program).items():
            files[document] = (content, 0o644)
        for page, content in release.manual.items():
            files[f"man/man1/{page}"] = (content, 0o644)
        for shell, file in SHELLS.items():
            files[f"completions/{file}"] = (release.completions[shell], 0o644)
        content = tar_gz({f"{name}/{path}": entry for path, entry in files.items()}, release.epoch)
        release.write(f"{name}.tar.gz", content)
        release.write(f"{name}.cdx.json", release.sboms[program.arch])
