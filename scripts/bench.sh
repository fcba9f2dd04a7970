#!/usr/bin/env bash
# Every operation beside its floor, measured in the same run: one table.
#
#   scripts/bench.sh              about 15 minutes, without the time to build
#   scripts/bench.sh --quick      a tenth of the samples, within 3 minutes
#   scripts/bench.sh --check      exits with 1 where a target is missed
#   scripts/bench.sh --markdown   the table as Markdown
#
# The targets mean an idle machine of two cores. Takes git, Python 3.11, ripgrep (which it fetches), and wrk for
# the service.
set -euo pipefail
cd "$(dirname "$0")/.."
quick=() check=() markdown='' seconds=10
for argument; do
  case $argument in
    --quick) quick=(--quick) seconds=5 ;;
    --check) check=(--check) ;;
    --markdown) markdown=yes ;;
    *) echo "usage: scripts/bench.sh [--quick] [--check] [--markdown]" >&2; exit 1 ;;
  esac
done
PATH=$(scripts/ripgrep.sh):$PATH
export PATH
names=(first_call hydrate skills govern hook start density sizes)
cargo build --release --workspace --locked --quiet
cargo bench --workspace --locked --no-run --quiet "${names[@]/#/--bench=}"

missed=0
bench() { cargo bench --workspace --locked --quiet --bench "$1" -- --no-header "${quick[@]}" "${check[@]}" || missed=1; }
table() {
  printf '%-50s %10s %10s %7s  %-12s %s\n' operation hydrant floor ratio target met
  for name in "${names[@]}"; do
    bench "$name"
  done
  scripts/load.sh --rows --seconds "$seconds" ${check:+--require} || missed=1
}
if [ -n "$markdown" ]; then
  table > >(python3 -c '
import sys
for number, line in enumerate(sys.stdin):
    line = line.rstrip("\n")
    cells = [line[:50], line[51:61], line[62:72], line[73:80], line[82:94], line[95:]]
    print("| " + " | ".join(cell.strip() for cell in cells) + " |")
    if number == 0:
        print("|---" * len(cells) + "|")
')
  wait "$!"
else
  table
fi
# Without --check a target that is missed is no failure; a benchmark that could not run is.
exit "$missed"
