#!/usr/bin/env bash
# Verifies every pin: signatures, digests, manifests, imports, and that each component still starts.
# One process, no network. Takes the flags of `hydrant verify`; HYDRANT_BIN names another program.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
hydrant=${HYDRANT_BIN:-${CARGO_TARGET_DIR:-$root/target}/release/hydrant}
if [ ! -x "$hydrant" ]; then
  (cd "$root" && cargo build --release --locked --quiet --bin hydrant)
fi
exec "$hydrant" verify --root "$root" "$@"
