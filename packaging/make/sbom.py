"""The software bill of materials: CycloneDX 1.6, of the crates and of the pinned components.

Made from `cargo metadata` and `cargo tree`, which the toolchain brings: it costs no build, is limited to what is in the program for one
target, and also names the crates inside the WebAssembly components, which a tool that looks at the host alone misses.
"""

import datetime
import hashlib
import json
import uuid


def sbom(crates, program, epoch):
    """The document as bytes."""

    def purl(package):
        return f"pkg:cargo/{package['name']}@{package['version']}"

    def component(package):
        entry = {
            "type": "library",
            "bom-ref": purl(package),
            "name": package["name"],
            "version": package["version"],
            "purl": purl(package),
        }
        if package["description"]:
            entry["description"] = " ".join(package["description"].split())
        if package["license"]:
            # Cargo still takes `/` for `OR`, which SPDX does not.
            entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        checksum = crates.checksum(package)
        if checksum:
            entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return entry

    def skill(entry):
        return {
            "type": "application",
            "bom-ref": f"skill:{entry['id']}@{entry['version']}",
            "name": entry["id"],
            "version": entry["version"],
            "description": "A pinned skill: a WebAssembly component inside the program.",
            "licenses": [{"expression": crates.program["license"]}],
            "hashes": [{"alg": "SHA-256", "content": entry["artifact"].removeprefix("sha256:")}],
        }

    packages = {purl(package): package for package in crates.packages.values()}
    root = purl(crates.program)
    pins = json.loads((crates.root / "pins/skills.lock.json").read_text())["skills"]
    skills = [skill(entry) for entry in pins]
    edges = {purl(crates.packages[crate]): {purl(crates.packages[to]) for to in tos} for crate, tos in crates.edges.items()}
    edges[root] |= {entry["bom-ref"] for entry in skills}
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        # Of the program's bytes, so that the same build has the same one.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, hashlib.sha256(program.content).hexdigest())}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(epoch, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                **component(crates.program),
                "type": "application",
                "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(program.content).hexdigest()}],
            },
            "properties": [{"name": "cdx:rustc:target", "value": program.target}],
        },
        "components": [component(packages[ref]) for ref in sorted(packages) if ref != root] + skills,
        "dependencies": [{"ref": ref, "dependsOn": sorted(edges[ref])} for ref in sorted(edges)],
    }
    return (json.dumps(document, indent=1) + "\n").encode()
