"""The Claude Code plugin, in a folder that is its own marketplace: the program, its MCP server, and its hook."""

import pathlib

from files import tar_gz
from release import PACKAGING

PLUGIN = "plugins/hydrant"


def make(release):
    sources = PACKAGING / "claude-code"
    for program in release.programs.values():
        files = {f"{PLUGIN}/bin/hydrant": (program.content, 0o755)}
        for path in sources.rglob("*"):
            if path.is_file():
                name = path.relative_to(sources)
                files[str(name)] = (release.template(pathlib.Path("claude-code") / name).encode(), 0o644)
        for document, content in release.documents(program).items():
            files[f"{PLUGIN}/{document}"] = (content, 0o644)
        name = f"hydrant-{release.version}-claude-code-linux-{program.arch}"
        release.write(f"{name}.tar.gz", tar_gz({f"{name}/{path}": entry for path, entry in files.items()}, release.epoch))
