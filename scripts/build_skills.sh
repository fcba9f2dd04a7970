#!/usr/bin/env bash
# Builds every component from guest/: each crate with a [package.metadata.skill] table.
#
#   scripts/build_skills.sh           build into target/skills/<id>-<version>.wasm
#   scripts/build_skills.sh --check   build into a fresh folder, compare with the lock both ways; exits 2 on any difference
#
# Writes nothing below skills/ or pins/: that is what scripts/release_skills.sh is for.
# Reproducible: pinned toolchain, locked dependencies, one codegen unit, no debug info, paths remapped,
# no timestamps. The same sources give the same bytes in any folder.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"

target=${CARGO_TARGET_DIR:-$root/target}
built=$target/skills
case "${1:-}" in
  "") mode=build ;;
  --check)
    mode=check
    target=$(mktemp -d)
    trap 'rm -rf "$target"' EXIT
    built=$target/skills
    ;;
  *) echo "usage: scripts/build_skills.sh [--check]" >&2; exit 1 ;;
esac

rustup target list --installed 2>/dev/null | grep -qx wasm32-wasip2 || rustup target add wasm32-wasip2

# 4 MiB to begin with: an ordinary call then never grows its memory, which would cost it two system calls.
# Pages that are not touched cost nothing.
flags="-Clink-arg=--initial-memory=4194304"
# Vectors, which every runtime of components has.
flags+=" -Ctarget-feature=+simd128"
cargo_home=${CARGO_HOME:-$HOME/.cargo}
flags+=" --remap-path-prefix=$root=/hydrant --remap-path-prefix=$cargo_home=/cargo"
flags+=" --remap-path-prefix=$(rustc --print sysroot)=/rust"

mkdir -p "$built"
skills=$(scripts/list_skills.py)

# The components that are compiled with the same flags, one after another: together they would share the features of what
# they depend on.
group() {
  while IFS=$'\t' read -r id version crate profile threshold _; do
    [ "$profile $threshold" = "$1 $2" ] || continue
    # As a cdylib alone: where the library is an rlib too, cargo ignores the `lto` of the profile.
    # Kept out of the environment of other builds: these flags concern the components alone. Incremental code is other code.
    CARGO_TARGET_DIR=$target/components/$1-$2 CARGO_INCREMENTAL=0 \
    CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS="$flags -Cllvm-args=-inline-threshold=$threshold" \
      cargo rustc --quiet --locked --package "$crate" --profile "$profile" --target wasm32-wasip2 --lib --crate-type cdylib
    cp "$target/components/$1-$2/wasm32-wasip2/$profile/${crate//-/_}.wasm" "$built/$id-$version.wasm"
  done <<<"$skills"
}

# Most of the time one thread links: as many groups beside each other as there are processors, the largest first.
groups=$(cut -f 4,5 <<<"$skills" | sort | uniq -c | sort -rn)
free=$(nproc)
failed=0
while read -r _ profile threshold; do
  if [ "$free" -gt 0 ]; then free=$((free - 1)); else wait -n || failed=1; fi
  group "$profile" "$threshold" &
done <<<"$groups"
for _ in $(jobs -p); do wait -n || failed=1; done
[ "$failed" = 0 ] || exit 1

[ "$mode" = check ] || exit 0
BUILT=$built python3 - <<'EOP'
import hashlib, json, os, pathlib, sys

def digest(file):
    return "sha256:" + hashlib.sha256(file.read_bytes()).hexdigest()

skills = json.loads(pathlib.Path("pins/skills.lock.json").read_text())["skills"]
pinned = {f"{skill['id']}-{skill['version']}": skill["artifact"] for skill in skills}
built = {file.stem: digest(file) for file in pathlib.Path(os.environ["BUILT"]).glob("*.wasm")}
# Both ways: a pinned version that no source builds any more differs as well, and so does a built one that is not pinned.
differing = [name for name in sorted(pinned.keys() | built.keys()) if pinned.get(name) != built.get(name)]
for name in differing:
    expected, actual = pinned.get(name, "nothing"), built.get(name, "nothing")
    print(f"error: {name}: the lock pins {expected}, the sources build to {actual}", file=sys.stderr)
if differing:
    sys.exit(2)
print(f"OK build-check count={len(pinned)}")
EOP
