#!/usr/bin/env bash
# Builds every component from guest/ and puts it, with its manifest, into skills/<id>/<version>/, and
# its digest into pins/skills.lock.json.
#
#   scripts/build_skills.sh           build and write
#   scripts/build_skills.sh --check   build into a fresh folder and compare with the lock; writes nothing
#                                     below skills/ or pins/; exits 2 on any difference
#
# Reproducible: pinned toolchain, locked dependencies, one codegen unit, no debug info, paths remapped,
# no timestamps. The same sources give the same bytes in any folder.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"

# id, version, crate, capabilities (kind:value, sorted)
skills=(
  "content.hydrate 0.1.0 content-hydrate exec.safe:*,fs.read:/os,net.http:*"
)

mode=write
case "${1:-}" in
  "") ;;
  --check) mode=check ;;
  *) echo "usage: scripts/build_skills.sh [--check]" >&2; exit 1 ;;
esac

rustup target list --installed 2>/dev/null | grep -qx wasm32-wasip2 || rustup target add wasm32-wasip2

built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
target=${CARGO_TARGET_DIR:-$root/target}
[ "$mode" = check ] && target=$built/target

# 4 MiB to begin with: an ordinary call then never grows its memory, which would cost it two system calls.
# Pages that are not touched cost nothing.
flags="-Clink-arg=--initial-memory=4194304"
# Vectors, which every runtime of components has, and more inlining: fuel and deadline are checked at each call.
flags+=" -Ctarget-feature=+simd128 -Cllvm-args=-inline-threshold=600"
cargo_home=${CARGO_HOME:-$HOME/.cargo}
flags+=" --remap-path-prefix=$root=/hydrant --remap-path-prefix=$cargo_home=/cargo"
flags+=" --remap-path-prefix=$(rustc --print sysroot)=/rust"
for skill in "${skills[@]}"; do
  read -r id version crate capabilities <<<"$skill"
  # Kept out of the environment of other builds: these flags concern the components alone.
  CARGO_TARGET_DIR=$target \
  CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS="$flags" \
    cargo build --quiet --locked --package "$crate" --profile skill --target wasm32-wasip2
  cp "$target/wasm32-wasip2/skill/${crate//-/_}.wasm" "$built/$id-$version.wasm"
done

MODE=$mode BUILT=$built python3 - "${skills[@]}" <<'PY'
import hashlib, json, os, pathlib, sys

built, check = pathlib.Path(os.environ["BUILT"]), os.environ["MODE"] == "check"
digest = lambda data: "sha256:" + hashlib.sha256(data).hexdigest()
lock_file = pathlib.Path("pins/skills.lock.json")
pinned = {}
if lock_file.exists():
    pinned = {(s["id"], s["version"]): s for s in json.loads(lock_file.read_text()).get("skills", [])}

entries, failed = [], False
for line in sorted(sys.argv[1:]):
    id, version, _, capabilities = line.split()
    component = (built / f"{id}-{version}.wasm").read_bytes()
    manifest = {
        "name": id, "version": version, "entrypoint": "run", "artifact": digest(component),
        "capabilities": [dict(zip(("kind", "value"), c.split(":", 1))) for c in capabilities.split(",")],
        "signers": ["hydrant.build", "hydrant.release"],
    }
    # RFC 8785: all members are ASCII strings here, so sorted compact JSON is canonical JSON.
    canonical = json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode()
    folder = f"skills/{id}/{version}"
    entry = {"id": id, "version": version, "bundle_dir": folder,
             "artifact": digest(component), "manifest_hash": digest(canonical)}
    if check:
        expected = pinned.get((id, version), {}).get("artifact")
        if expected != entry["artifact"]:
            print(f"{id}@{version}: the lock pins {expected}, the sources build to {entry['artifact']}", file=sys.stderr)
            failed = True
        continue
    path = pathlib.Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    (path / "skill.wasm").write_bytes(component)
    (path / "manifest.json").write_text(json.dumps(manifest, indent=2))
    entries.append(entry)

if check:
    if failed:
        sys.exit(2)
    print(f"OK build-check count={len(sys.argv) - 1}")
else:
    lock = {"schema_version": "1.0.0", "skills": entries}
    lock_file.parent.mkdir(exist_ok=True)
    lock_file.write_text(json.dumps(lock, indent=2) + "\n")
    for entry in entries:
        print(f"{entry['id']}@{entry['version']} {entry['artifact']}")
PY
