#!/bin/sh
# Knows no flag at all.
echo "fails.sh: unknown option $1" >&2
exit 1
