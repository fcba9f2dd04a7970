#!/usr/bin/env python3
"""Lists the skills of guest/, one a line, tab-separated: id, version, crate, profile, the compiler's inline threshold, and
the manifest without its artifact."""

import json
import subprocess

metadata = subprocess.run(
    ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"],
    check=True, capture_output=True, text=True,
)
for package in sorted(json.loads(metadata.stdout)["packages"], key=lambda package: package["name"]):
    skill = (package["metadata"] or {}).get("skill")
    if skill is None:
        continue
    capabilities = [dict(zip(("kind", "value"), text.split(":", 1))) for text in sorted(skill["capabilities"])]
    manifest = {
        "name": skill["id"], "version": skill["version"], "entrypoint": "run",
        "capabilities": capabilities, "signers": ["hydrant.build", "hydrant.release"],
    }
    # More inlining than usual pays, because fuel and deadline are checked at each call, but it costs size.
    threshold = skill.get("inline_threshold", 600)
    profile = skill.get("profile", "skill")
    print(skill["id"], skill["version"], package["name"], profile, threshold, json.dumps(manifest), sep="\t")
