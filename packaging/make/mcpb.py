"""The MCP bundle: the program as a server that desktop clients install from one file."""

from files import zip_archive


def make(release):
    for program in release.programs.values():
        files = {
            "manifest.json": (release.template("mcpb/manifest.json").encode(), 0o644),
            "server/hydrant": (program.content, 0o755),
        }
        for document, content in release.documents(program).items():
            files[document] = (content, 0o644)
        name = f"hydrant-{release.version}-linux-{program.arch}.mcpb"
        release.write(name, zip_archive(files, release.epoch))
