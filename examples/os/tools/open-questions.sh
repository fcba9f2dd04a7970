#!/bin/sh
# Lists the open questions of an incident's notes. It predates --description, so hydrant falls back to the first
# paragraph of its --help.
set -eu

case "${1:-}" in
  --help)
    cat <<'HELP'
Lists the lines of incident notes that are marked "asked" and have no line "answered" with the same text.

usage: open-questions.sh NOTES
HELP
    exit 0 ;;
  "" | -*)
    echo "usage: open-questions.sh NOTES" >&2
    exit 2 ;;
esac

awk '
  $2 == "asked" { time = $1; $1 = $2 = ""; questions[substr($0, 3)] = time }
  $2 == "answered" { $1 = $2 = ""; delete questions[substr($0, 3)] }
  END { for (question in questions) print questions[question], question }
' "$1" | sort
