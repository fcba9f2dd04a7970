#!/usr/bin/env bash
# Drives the console in a real browser, headless: every view, approving and denying, live changes, hostile texts, the
# keyboard, accessibility (axe), and no violation of the content security policy.
#
#   scripts/console.sh [--screenshots FOLDER] [NAME…]   against a server that says what the tests want
#   scripts/console.sh --server                         against the built program
#
# Needs Python 3.11 and chromium, which is installed where apt-get and root are at hand. Loopback only.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
  else
    echo "error: the tests take chromium: install it" >&2
    exit 1
  fi
fi
venv=${CARGO_TARGET_DIR:-target}/venv-console
if ! cmp -s tests/console/requirements.txt "$venv/installed.txt"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r tests/console/requirements.txt
  cp tests/console/requirements.txt "$venv/installed.txt"
fi
program=tests/console/drive.py
if [ "${1:-}" = --server ]; then
  shift
  program=tests/console/drive_server.py
fi
exec "$venv/bin/python" "$program" "$@"
