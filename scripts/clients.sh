#!/usr/bin/env bash
# Tests the MCP server with clients that others wrote: the official Python SDK over both transports, and the inspector's
# command-line mode.
#
#   scripts/clients.sh            the program in target/release, which is built if it is not there
#   HYDRANT=… scripts/clients.sh  another one
#
# Needs python3 (3.10 or newer), and node and npm; both get their packages, of pinned versions, into target/clients, and the
# inspector also the Node that it needs. Where they are there already, it takes a minute.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
hydrant=${HYDRANT:-$target/release/hydrant}
[ -x "$hydrant" ] || cargo build --release --workspace --locked --quiet
hydrant=$(realpath "$hydrant")
place=$target/clients
mkdir -p "$place"
place=$(realpath "$place")

# installed FOLDER FILES… - whether what is in the folder is of these files, which say what is pinned.
installed() {
  local folder=$1 file
  shift
  for file in "$@"; do
    cmp -s "tests/clients/$file" "$folder/$file.installed" || return 1
  done
}

# note FOLDER FILES… - that it is.
note() {
  local folder=$1 file
  shift
  for file in "$@"; do
    cp "tests/clients/$file" "$folder/$file.installed"
  done
}

if ! installed "$place/venv" requirements.txt; then
  rm -rf "$place/venv"
  python3 -m venv "$place/venv"
  "$place/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r tests/clients/requirements.txt
  note "$place/venv" requirements.txt
fi
inspector=$place/inspector
if ! installed "$inspector" package.json package-lock.json; then
  rm -rf "$inspector"
  mkdir "$inspector"
  cp tests/clients/package.json tests/clients/package-lock.json "$inspector/"
  (cd "$inspector" && npm ci --ignore-scripts --no-audit --no-fund --silent)
  note "$inspector" package.json package-lock.json
fi

"$place/venv/bin/python" tests/clients/drive.py "$hydrant" "$PWD"
for node in "$inspector"/node_modules/node-linux-*/bin; do
  [ ! -x "$node/node" ] || PATH=$node:$PATH
done
tests/clients/inspect.sh "$hydrant" "$inspector/node_modules/.bin/mcp-inspector" "$place/venv/bin/python"
