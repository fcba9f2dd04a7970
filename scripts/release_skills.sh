#!/usr/bin/env bash
# Builds, packs, signs and pins every component of guest/. A second run changes nothing.
#
#   HYDRANT_SIGNING_KEYS=<dir> scripts/release_skills.sh [--allow-widen] [--allow-signer-change]
#
# <dir> holds hydrant.build.key and hydrant.release.key and lies outside this folder. The flags are those of
# `hydrant lock --update`, which shows every wider capability and refuses it without its flag.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${HYDRANT_SIGNING_KEYS:?name the folder of the signing keys}"

# The program that signs must know the contract as it is now, so it is built first.
cargo build --release --locked --quiet --bin hydrant
hydrant=${CARGO_TARGET_DIR:-target}/release/hydrant
scripts/build_skills.sh
built=${CARGO_TARGET_DIR:-target}/skills

scripts/list_skills.py | while IFS=$'\t' read -r id version _ _ _ manifest; do
  component=$built/$id-$version.wasm
  MANIFEST=$manifest python3 - "$component" "$built/$id-$version.json" <<'EOP'
import hashlib, json, os, pathlib, sys

component, file = map(pathlib.Path, sys.argv[1:])
manifest = json.loads(os.environ["MANIFEST"])
manifest["artifact"] = "sha256:" + hashlib.sha256(component.read_bytes()).hexdigest()
file.write_text(json.dumps(manifest))
EOP
  bundle=skills/$id/$version
  "$hydrant" pack --bundle "$bundle" --wasm "$component" --manifest "$built/$id-$version.json"
  for signer in hydrant.build hydrant.release; do
    "$hydrant" sign --bundle "$bundle" --signer "$signer"
  done
done

"$hydrant" lock --update "$@"
"$hydrant" verify --rebuilt "$built"
