#!/usr/bin/env bash
# Tests the MCP server with clients that others wrote: the official Python and TypeScript SDKs, versions 1 and 2, and the
# inspector's command-line mode, over both transports and under the default policy as under a policy file.
#
#   scripts/clients.sh            the program in target/release, which is built if it is not there
#   HYDRANT=… scripts/clients.sh  another one
#
# Needs python3 (3.10 or newer), and node and npm; both get their packages, of pinned versions, into target/clients, and the
# inspector also the Node that it needs. Where they are there already, it takes two minutes.
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

# python FOLDER FILE - a Python in this folder, with the packages of this file.
python() {
  local folder=$1 file=$2
  installed "$folder" "$file" && return
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "tests/clients/$file"
  note "$folder" "$file"
}
python "$place/venv" requirements.txt
python "$place/venv-v1" requirements-v1.txt
packages=$place/packages
if ! installed "$packages" package.json package-lock.json; then
  rm -rf "$packages"
  mkdir "$packages"
  cp tests/clients/package.json tests/clients/package-lock.json "$packages/"
  (cd "$packages" && npm ci --ignore-scripts --no-audit --no-fund --silent)
  note "$packages" package.json package-lock.json
fi
for node in "$packages"/node_modules/node-linux-*/bin; do
  [ ! -x "$node/node" ] || PATH=$node:$PATH
done

"$place/venv/bin/python" tests/clients/drive.py "$hydrant" "$place/venv-v1/bin/python" "$(command -v node)" "$packages" "$PWD"
tests/clients/inspect.sh "$hydrant" "$packages/node_modules/.bin/mcp-inspector" "$place/venv/bin/python"
