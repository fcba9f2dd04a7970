#!/usr/bin/env bash
# Fuzzes the readers of files that others wrote: manifest, lock, policy, archive.
#
#   scripts/fuzz.sh [SECONDS]   for each target, 20 seconds if nothing is said
#
# Needs cargo-fuzz (cargo install cargo-fuzz). Without sanitizer, which needs no nightly toolchain: the readers are safe
# Rust, so what is looked for are panics and broken promises; and address sanitizers of two compilers raise false alarms.
# With debug assertions, lightly optimised: most of what is built is wasmtime, which no target calls.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-20}
hydrant=${CARGO_TARGET_DIR:-target}/release/hydrant
[ -x "$hydrant" ] || cargo build --release --locked --quiet --bin hydrant

# Whole files to begin with: what is found by chance alone seldom parses.
seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
mkdir "$seeds"/{manifest,lock,policy,archive}
# copy TARGET FILE… - one seed for each file, named after its whole path: bundles have files of the same names.
copy() {
  local target=$1 file
  shift
  for file in "$@"; do
    cp "$file" "$seeds/$target/${file//\//_}"
  done
}
copy manifest skills/*/*/{manifest,signatures,bundle-meta}.json pins/public-keys.json
copy lock pins/skills.lock.json pins/skills.lock.json.sig
copy policy examples/policies/*.yaml
printf '\0asm\15\0\1\0' > "$seeds/skill.wasm"
digest=$(sha256sum "$seeds/skill.wasm" | cut -d' ' -f1)
printf '{"name":"a","version":"1","entrypoint":"run","artifact":"sha256:%s","capabilities":[],"signers":["a"]}' \
  "$digest" > "$seeds/manifest.json"
"$hydrant" pack --bundle "$seeds/bundle" --wasm "$seeds/skill.wasm" --manifest "$seeds/manifest.json" >/dev/null
"$hydrant" archive --bundle "$seeds/bundle" --output "$seeds/archive/seed" >/dev/null

export CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_DEV_DEBUG=0
for target in manifest lock policy archive; do
  mkdir -p "tests/fuzz/corpus/$target"
  cargo fuzz run --fuzz-dir tests/fuzz --dev --sanitizer none "$target" "tests/fuzz/corpus/$target" "$seeds/$target" -- \
    -max_total_time="$seconds" -max_len=65536 -print_final_stats=0 -verbosity=0
  echo "OK fuzz target=$target seconds=$seconds"
done
