#!/bin/sh
# Prints the section of one version from a changelog: from its heading "## [1.2.3]" to the next heading of that level.
set -eu

description="Prints the section of one version from a Keep a Changelog file"
usage="usage: changelog-section.sh VERSION [CHANGELOG.md]"

case "${1:-}" in
  --description) echo "$description"; exit 0 ;;
  --help) printf '%s.\n\n%s\n' "$description" "$usage"; exit 0 ;;
  "" | -*) echo "$usage" >&2; exit 2 ;;
esac

awk -v heading="## [$1]" '
  index($0, "## ") == 1 { inside = index($0, heading) == 1; found = found || inside }
  inside
  END { exit !found }
' "${2:-CHANGELOG.md}" || { echo "changelog-section.sh: no section for $1" >&2; exit 1; }
