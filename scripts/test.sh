#!/usr/bin/env bash
# The test command: installs what it needs (the wasm target) and runs every test. Uses loopback only.
set -euo pipefail
cd "$(dirname "$0")/.."
rustup target list --installed 2>/dev/null | grep -qx wasm32-wasip2 || rustup target add wasm32-wasip2
cargo test --release --workspace --locked "$@"
