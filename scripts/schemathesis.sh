#!/usr/bin/env bash
# Holds the service against its OpenAPI document: whatever Schemathesis thinks of to ask, no answer is a server error, and
# none is outside the document.
#
#   scripts/schemathesis.sh [OPTION…]   options of `schemathesis run`, such as --max-examples 200 or --seed 1
#
# Needs Python 3.11 and the built program. Loopback only.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
[ -n "${HYDRANT:-}" ] || [ -x "$target/release/hydrant" ] || cargo build --release --workspace --locked --quiet
venv=$target/venv-serve
if ! cmp -s tests/serve/requirements.txt "$venv/installed.txt"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r tests/serve/requirements.txt
  cp tests/serve/requirements.txt "$venv/installed.txt"
fi
[ $# -gt 0 ] || set -- --max-examples 40
exec "$venv/bin/python" tests/serve/conformance.py "$@"
