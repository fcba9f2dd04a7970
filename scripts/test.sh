#!/usr/bin/env bash
# The test command: installs what it needs (the wasm target, ripgrep) and runs every test. Uses loopback only.
# Beyond the Rust toolchain it takes git and patch, which the skills are compared with, and curl and unshare, with which
# the jail is tried.
set -euo pipefail
cd "$(dirname "$0")/.."
for program in git patch curl unshare; do
  command -v "$program" >/dev/null || { echo "error: the tests take \`$program\`: install it" >&2; exit 1; }
done
rustup target list --installed 2>/dev/null | grep -qx wasm32-wasip2 || rustup target add wasm32-wasip2
PATH=$(scripts/ripgrep.sh):$PATH
export PATH
cargo test --release --workspace --locked --no-fail-fast "$@"
[ $# -eq 0 ] || exit 0
# By itself: its feature turns on `arbitrary_precision` of serde_json for all that is built with it.
cargo test --release --package json-validate --features exact --locked --no-fail-fast
# The ways out of the jail, in a build of its own: with a feature that takes layers away.
cargo test --release --locked --no-fail-fast --manifest-path tests/escape/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}/escape"
