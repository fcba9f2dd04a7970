#!/usr/bin/env bash
# The steps of the action in action.yml, as a program that a test can run. Everything comes in the environment, so that no
# input is ever read as shell.
#
#   INPUT_VERSION, INPUT_SHA256, INPUT_REPOSITORY   the release to take, and the digest of its archive
#   INPUT_PATH                                      or a program, or an archive of one, that is there
#   INPUT_ROOT, INPUT_KEYS_DIGEST, INPUT_BASELINE   what is verified, against which key ring, compared with what
#   INPUT_FORMAT, INPUT_REPORT                      the form of the report, and the file it goes to
#   INPUT_LOCK                                      true: also ask whether the lock is what the bundles make it
#
# Exit status: that of `hydrant verify`, or of `hydrant lock --check`; 1 where an input cannot be used. Needs bash, coreutils and tar; curl for a release.
set -euo pipefail

fail() {
  printf '::error title=hydrant verify::%s\n' "$*"
  exit 1
}
notice() { printf '::notice title=hydrant verify::%s\n' "$*"; }

version=${INPUT_VERSION:-}
sha256=${INPUT_SHA256:-}
path=${INPUT_PATH:-}
root=${INPUT_ROOT:-.}
keys_digest=${INPUT_KEYS_DIGEST:-}
baseline=${INPUT_BASELINE:-}
format=${INPUT_FORMAT:-text}
report=${INPUT_REPORT:-}
lock=${INPUT_LOCK:-false}

# Asked first: without it a pull request would be verified against the keys it brings itself.
[ -n "$keys_digest" ] || fail "keys-digest is empty, so nobody says whom to trust. \`hydrant keys digest\
 pins/public-keys.json\` prints it; keep it in a variable of the repository. GitHub gives no variables to pull requests\
 from forks: for those, write the digest into the workflow."
[[ $keys_digest =~ ^sha256:[0-9a-f]{64}$ ]] || fail "keys-digest is not \`sha256:\` and 64 lower-case hex digits"
sha256=${sha256#sha256:}
[[ -z $sha256 || $sha256 =~ ^[0-9a-f]{64}$ ]] || fail "sha256 is not 64 lower-case hex digits"
case $format in text | json | sarif) ;; *) fail "format is not text, json or sarif" ;; esac
case $lock in true | false) ;; *) fail "lock is not true or false" ;; esac
[ -d "$root" ] || fail "root is no directory"

work=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/hydrant.XXXXXXXX")
trap 'rm -rf "$work"' EXIT
if [ -n "$path" ]; then
  [ -z "$version" ] || fail "version and path exclude each other"
  [ -f "$path" ] || fail "path is no file"
  # What is checked is what is run, whatever becomes of the file meanwhile.
  cp -- "$path" "$work/taken"
else
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "neither path nor a version such as 0.1.0 is given"
  [ -n "$sha256" ] || fail "sha256 is empty: a release is taken by its digest, which its SHA256SUMS has"
  [[ ${INPUT_REPOSITORY:-} =~ ^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$ ]] || fail "repository is not OWNER/NAME"
  archive=hydrant-$version-$(uname -m)-unknown-linux-musl.tar.gz
  curl --fail --silent --show-error --location --proto '=https' --retry 3 --output "$work/taken" \
    "https://github.com/$INPUT_REPOSITORY/releases/download/v$version/$archive" || fail "$archive cannot be had"
fi
if [ -n "$sha256" ]; then
  read -r digest _ < <(sha256sum "$work/taken")
  [ "$digest" = "$sha256" ] || fail "the digest is $digest, not $sha256: nothing was run"
fi
if [ "$(head -c 4 "$work/taken" | od -An -tx1 | tr -d ' \n')" = 7f454c46 ]; then
  mv "$work/taken" "$work/hydrant"
else
  tar -xzf "$work/taken" -C "$work" --strip-components=1 --no-same-owner --wildcards '*/hydrant' || fail "it is no archive of hydrant"
fi
chmod 0755 "$work/hydrant"

arguments=(verify --root "$root" --keys-digest "$keys_digest" --format "$format")
if [ -n "$report" ]; then
  arguments+=(--report "$report")
fi
if [ -n "$baseline" ]; then
  if [ -e "$baseline/pins/skills.lock.json" ]; then
    arguments+=(--baseline "$baseline")
  elif [ -d "$baseline" ]; then
    # The first pull request that pins something.
    notice "the baseline pins nothing yet: nothing to compare with"
  else
    fail "baseline is no directory"
  fi
fi

# No environment of the workflow changes what is trusted.
unset HYDRANT_KEYS_DIGEST MIN_SIGNERS HYDRANT_POLICY
# Names of files of a pull request are printed: whatever they are, they are no commands to the runner.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
printf '::stop-commands::%s\n' "$token"
status=0
"$work/hydrant" "${arguments[@]}" || status=$?
if [ "$status" = 0 ] && [ "$lock" = true ]; then
  "$work/hydrant" lock --check --root "$root" --keys-digest "$keys_digest" || status=$?
fi
printf '::%s::\n' "$token"
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  printf 'status=%s\n' "$status" >> "$GITHUB_OUTPUT"
fi
case $status in
  0) ;;
  2) printf '::error title=hydrant verify::%s\n' "bytes are not what was pinned" ;;
  3) printf '::error title=hydrant verify::%s\n' "a signature, a key or a signer is not what was trusted" ;;
  4) printf '::error title=hydrant verify::%s\n' "a capability is wider than declared, allowed or before" ;;
  *) printf '::error title=hydrant verify::%s\n' "hydrant ended with status $status" ;;
esac
exit "$status"
