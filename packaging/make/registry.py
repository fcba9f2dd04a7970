"""server.json, which the MCP registry is told: where the packages are, and the digests of those that it can check."""

import hashlib
import json


def make(release, distribution):
    server = json.loads(release.template("server.json"))
    arguments = server.pop("packageArguments")
    packages = [
        {"registryType": "npm", "identifier": "hydrant", "runtimeHint": "npx"},
        {"registryType": "pypi", "identifier": distribution, "runtimeHint": "uvx"},
    ]
    for package in packages:
        package |= {"version": release.version, "transport": {"type": "stdio"}, "packageArguments": arguments}
    for bundle in sorted(release.out.glob("*.mcpb")):
        packages.append(
            {
                "registryType": "mcpb",
                "identifier": f"https://github.com/{release.values['REPOSITORY']}/releases/download/v{release.version}/{bundle.name}",
                "version": release.version,
                "fileSha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
                "transport": {"type": "stdio"},
            }
        )
    server["packages"] = packages
    release.write("server.json", (json.dumps(server, indent=2) + "\n").encode())
