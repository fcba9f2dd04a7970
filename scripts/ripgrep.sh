#!/usr/bin/env bash
# Prints the folder of the `rg` that search.ripgrep is compared with: the release that its libraries belong to.
# Where the PATH has none, or another one, it is installed into the target folder.
set -euo pipefail
cd "$(dirname "$0")/.."
version=15.2.0
is_it() { "$1" --version 2>/dev/null | head -n 1 | grep -qF "ripgrep $version"; }

if rg=$(command -v rg) && is_it "$rg"; then
  dirname "$rg"
  exit 0
fi
tools=${CARGO_TARGET_DIR:-$PWD/target}/tools
is_it "$tools/bin/rg" || cargo install ripgrep --version "$version" --locked --quiet --root "$tools" >&2
echo "$tools/bin"
