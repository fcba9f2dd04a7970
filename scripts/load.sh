#!/usr/bin/env bash
# Hydrations a second of the service, on loopback: rate, latency, errors, memory.
#
#   scripts/load.sh [--clients 64] [--seconds 10] [--soak SECONDS] [--require]
#   scripts/load.sh --hostile      how far a component of each budget that misbehaves moves another tenant's calls
#
# Needs Python 3.11, the built program, and wrk, which is installed where apt-get and root are at hand.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
if [ "${1:-}" = --hostile ]; then
  exec cargo test --release --workspace --locked --test serve -- --ignored --nocapture hostile::
fi
[ -n "${HYDRANT:-}" ] || [ -x "$target/release/hydrant" ] || cargo build --release --workspace --locked --quiet
if ! command -v wrk >/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends wrk >/dev/null
  else
    echo "error: the load takes wrk: install it" >&2
    exit 1
  fi
fi
exec python3 tests/serve/load.py "$@"
