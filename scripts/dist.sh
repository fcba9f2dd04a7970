#!/usr/bin/env bash
# Makes the packages of a release below target/dist, and uses them.
#
#   scripts/dist.sh                    builds the static programs for x86-64 and aarch64 Linux, and packages them
#   scripts/dist.sh --target TARGET    only this one of them: x86_64-unknown-linux-musl or aarch64-unknown-linux-musl
#   scripts/dist.sh --binary FILE      packages this program, and builds nothing; may be given once for each processor
#   scripts/dist.sh … --test           then uses every package: see packaging/test
#   scripts/dist.sh … --repository OWNER/NAME
#                                      what the packages say of where they come from; without it they name a placeholder
#
# Needs python3 (3.11 or newer), dpkg-deb and readelf. To build: musl-gcc for x86-64; for aarch64 `zig cc` from the package
# cargo-zigbuild, which is put into a venv. To test: root (for `dpkg --install` in a scratch root), node 18 and npm, curl,
# buildah, git, openssl, systemd. Debian's packages are installed where root and apt-get are at hand.
# SOURCE_DATE_EPOCH is the time of all files; without it, that of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
out=$target/dist
tools=$target/dist-tools

usage() {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 2
}
binaries=() targets=() options=() test=false
while [ $# -gt 0 ]; do
  case $1 in
    --binary) binaries+=("${2:?$1 takes a file}"); shift 2 ;;
    --target) targets+=("${2:?$1 takes a target}"); shift 2 ;;
    --repository) options+=(--repository "${2:?$1 takes OWNER/NAME}"); shift 2 ;;
    --test) test=true; shift ;;
    *) usage ;;
  esac
done

# needs PROGRAM PACKAGE - an error that names what is missing, or its Debian package where that can be installed.
needs() {
  command -v "$1" >/dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" >/dev/null
  fi
  command -v "$1" >/dev/null || { echo "error: this takes \`$1\` (of Debian's package $2): install it" >&2; exit 1; }
}

# venv FOLDER REQUIREMENTS… - a venv with these, made anew where they are others.
venv() {
  local folder=$1 wanted
  shift
  wanted=$(cat "$@")
  [ "$wanted" != "$(cat "$folder/installed.txt" 2>/dev/null)" ] || return 0
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check -r "${!#}"
  printf '%s\n' "$wanted" > "$folder/installed.txt"
}

# build TARGET - the static program for it.
build() {
  rustup target add "$1" >/dev/null 2>&1 || { echo "error: rustup has no target $1" >&2; exit 1; }
  case $1 in
    x86_64-unknown-linux-musl)
      needs musl-gcc musl-tools
      CC_x86_64_unknown_linux_musl=musl-gcc cargo build --release --locked --target "$1" --package hydrant --bin hydrant
      ;;
    aarch64-unknown-linux-musl)
      venv "$tools/zig" packaging/zig-requirements.txt
      PATH=$tools/zig/bin:$PATH cargo zigbuild --release --locked --target "$1" --package hydrant --bin hydrant --features cross
      ;;
    *) usage ;;
  esac
}

if [ ${#binaries[@]} = 0 ]; then
  [ ${#targets[@]} -gt 0 ] || targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl)
  for name in "${targets[@]}"; do
    build "$name"
    binaries+=("$target/$name/release/hydrant")
  done
elif [ ${#targets[@]} -gt 0 ]; then
  usage
fi
needs dpkg-deb dpkg
needs readelf binutils
python3 packaging/make --out "$out" "${options[@]}" "${binaries[@]}"
(cd "$out" && du -sh --apparent-size -- *)

if $test; then
  needs systemd-analyze systemd
  needs curl curl
  needs buildah buildah
  needs git git
  needs openssl openssl
  command -v npm >/dev/null || { echo "error: the tests take node and npm: install them" >&2; exit 1; }
  venv "$tools/venv" tests/clients/requirements.txt packaging/test/requirements.txt
  if ! cmp -s packaging/test/package-lock.json "$tools/installed-lock.json"; then
    cp packaging/test/package.json packaging/test/package-lock.json "$tools/"
    (cd "$tools" && npm ci --ignore-scripts --no-audit --no-fund --silent)
    cp packaging/test/package-lock.json "$tools/installed-lock.json"
  fi
  DIST=$out TOOLS=$tools python3 packaging/test/test_packages.py
fi
