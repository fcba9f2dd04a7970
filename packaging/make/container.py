"""The context of the container's image: the programs, as `podman build` names their platforms, and the Containerfile."""

import shutil

PLATFORMS = {"amd64": "linux/amd64", "arm64": "linux/arm64"}


def make(release):
    context = release.out / "container"
    shutil.rmtree(context, ignore_errors=True)
    for program in release.programs.values():
        release.write(f"container/{PLATFORMS[program.debian_arch]}/hydrant", program.content).chmod(0o755)
        for document, content in release.documents(program).items():
            release.write(f"container/{PLATFORMS[program.debian_arch]}/doc/{document}", content)
    # COPY keeps the modes of what is in a folder, not that of the folder itself: so each is in one.
    for folder, mode in {"tree/var/lib": 0o755, "tree/var/cache": 0o755, "lib/hydrant": 0o700, "cache/hydrant": 0o700}.items():
        (context / folder).mkdir(parents=True)
        (context / folder).chmod(mode)
    release.write("container/Containerfile", release.read("deploy/Containerfile"))
