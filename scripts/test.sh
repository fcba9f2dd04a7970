#!/usr/bin/env bash
# The test command: installs what it needs (the wasm target, ripgrep) and runs every test. Uses loopback only.
# Beyond the Rust toolchain it takes git and patch, which the skills are compared with.
set -euo pipefail
cd "$(dirname "$0")/.."
for program in git patch; do
  command -v "$program" >/dev/null || { echo "error: the tests compare with \`$program\`: install it" >&2; exit 1; }
done
rustup target list --installed 2>/dev/null | grep -qx wasm32-wasip2 || rustup target add wasm32-wasip2
PATH=$(scripts/ripgrep.sh):$PATH
export PATH
cargo test --release --workspace --locked "$@"
