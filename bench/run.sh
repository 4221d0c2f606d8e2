#!/bin/bash
# The short benchmark: every guard in every mode once more than luck, what idling and starting cost, false kills, and how
# fast memory is released; at most ten minutes. Writes raw JSON lines and the tables to --out (build/bench-results) and
# prints the tables. VIGIL=path of the binary (default: build/src/cli/vigil when it is there).
#   run.sh [--out DIR] [-n TRIALS=3] [--long]
# --long is the release campaign: 20 trials, limits 256 to 4096 MiB, THP off and on, 60 s windows. It takes hours.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/.." && pwd)
export BENCH_BIN=${BENCH_BIN:-$top/build/bench}
out=$top/build/bench-results n=3 long=0
while [ $# -gt 0 ]; do
	case $1 in
	--out) out=$2; shift 2;;
	-n) n=$2; shift 2;;
	--long) long=1; n=20; shift;;
	-h|--help) sed -n '2,7p' "$0" | sed 's/^# \{0,1\}//'; exit 0;;
	*) echo "run: unknown option $1" >&2; exit 2;;
	esac
done
[ -n "${VIGIL:-}" ] || [ ! -x "$top/build/src/cli/vigil" ] || VIGIL=$top/build/src/cli/vigil
export VIGIL=${VIGIL:-}
"$here/peers.sh" || true # what is missing is reported as not measured
mkdir -p "$out"
rm -f "$out"/*.jsonl "$out/table.md"

race_sets=(--limits "512") seconds=15 sizes="20 500" rounds=1 size=1G starts=30
if [ $long = 1 ]; then
	race_sets=(--limits "256 512 1024 2048 4096" --huge "off on") seconds=60 sizes="20 500 3000" rounds=5 size=2G starts=200
fi
section() { printf '\n## %s\n\n' "$1" | tee -a "$out/table.md"; }

section "Race against the kernel's killer ($n trials a cell)"
"$here/race.sh" -n "$n" "${race_sets[@]}" --out "$out/race.jsonl" | grep -v '^{' | tee -a "$out/table.md"

section "Watching while nothing happens ($seconds s windows)"
"$here/watchcost.sh" --secs $seconds --idlers "$sizes" > "$out/watchcost.jsonl"
"$here/summary.py" watchcost "$out/watchcost.jsonl" | tee -a "$out/table.md"

section "False kills"
"$here/falsekill.sh" --secs 3 --rounds $rounds > "$out/falsekill.jsonl"
"$here/summary.py" falsekill "$out/falsekill.jsonl" | tee -a "$out/table.md"

section "Starting a job"
"$here/startcost.sh" $starts > "$out/startcost.jsonl"
"$here/summary.py" startcost "$out/startcost.jsonl" | tee -a "$out/table.md"

section "Memory free again: $size, nice 19, four CPU hogs a core"
"$here/release.sh" --size $size --rounds $rounds > "$out/release.jsonl"
"$here/summary.py" release "$out/release.jsonl" | tee -a "$out/table.md"
