"""The npm packages: `hydrant`, which starts the program, and one for each processor, which has it.

npm installs the one that fits (`os` and `cpu`) and runs no script while it does.
"""

import json

from files import tar_gz


def make(release):
    platforms = {}
    for program in release.programs.values():
        name = f"hydrant-linux-{program.node_arch}"
        platforms[name] = release.version
        libc = "" if program.static else '\n  "libc": ["glibc"],'
        manifest = release.template("npm/platform.json", NAME=name, CPU=program.node_arch, LIBC=libc)
        files = {"bin/hydrant": (program.content, 0o755)}
        for document, content in release.documents(program).items():
            files[document] = (content, 0o644)
        _pack(release, name, manifest, files)
    manifest = json.loads(release.template("npm/package.json"))
    manifest["optionalDependencies"] = platforms
    files = {"bin/hydrant.js": (release.read("packaging/npm/hydrant.js"), 0o755)}
    for document in ("README.md", "LICENSE-MIT", "LICENSE-APACHE"):
        files[document] = (release.read(document), 0o644)
    _pack(release, manifest["name"], json.dumps(manifest, indent=2) + "\n", files)


def _pack(release, name, manifest, files):
    """The tarball that `npm pack` would make, and `npm publish` takes."""
    files["package.json"] = (manifest.encode(), 0o644)
    content = tar_gz({f"package/{path}": entry for path, entry in files.items()}, release.epoch)
    release.write(f"npm-{name}-{release.version}.tgz", content)
