#!/bin/bash
# CPU time of one Python stack that is read from outside, by depth and version: what is aimed at (at most 5 us at
# depth 50 from 3.11 on, at most 11 us before). Best of ROUNDS, since the machine's other work only ever adds; names and
# lines come from the cache. "lines" looks every line up as well; "first" is attach to first stack.
#   stackrate.sh [--samples N=20000] [--rounds N=5] [--depths "20 50 100"] [PYTHON...]    BUILD=folder (build)
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/.." && pwd)
build=${BUILD:-$top/build}
samples=20000 rounds=5 depths="20 50 100"
while [ $# -gt 0 ]; do
	case $1 in
	--samples) samples=$2; shift 2;;
	--rounds) rounds=$2; shift 2;;
	--depths) depths=$2; shift 2;;
	-h|--help) sed -n '2,6p' "$0" | sed 's/^# \{0,1\}//'; exit 0;;
	--*) echo "stackrate: unknown option $1" >&2; exit 2;;
	*) break;;
	esac
done
if [ $# -gt 0 ]; then
	exec 3< <(printf '%s\n' "$@")
else
	exec 3< <(/usr/bin/python3 -c "
import sys
sys.path.insert(0, '$top/tests')
import pythons
for p in pythons.find():
    print(*p.argv)")
fi
printf '| %-24s | depth | CPU us | with lines | stacks/s (wall) | first ms (CPU) |\n' Python
printf '|%s|---:|---:|---:|---:|---:|\n' ---
log=$(mktemp)
trap 'rm -f "$log"' EXIT
while read -r -u 3 -a python; do
	for depth in $depths; do
		: > "$log"
		"${python[@]}" - sleeping "$((depth - 2))" < "$top/tests/workloads/oracle.py" > "$log" 2>&1 &
		pid=$!
		for _ in $(seq 200); do
			grep -q ready "$log" && break
			read -r -t 0.05 <> <(:)
		done
		for _ in $(seq "$rounds"); do
			"$build/tests/tool/pyoracle" "$pid" "$samples" bench
		done | /usr/bin/python3 -c "
import json, sys
runs = [json.loads(line) for line in sys.stdin]
best = lambda key: min(r[key] for r in runs)
if runs:
    print(f'| {runs[0][\"version\"]:24} | {runs[-1][\"depth\"]:.0f} | {best(\"cpu_us\"):.2f} | {best(\"cpu_us_with_lines\"):.2f} |'
          f' {max(r[\"stacks_per_s\"] for r in runs):.0f} | {best(\"first_cpu_ms\"):.2f} |', flush=True)"
		kill -9 "$pid"
		wait "$pid" 2> /dev/null
	done
done
