#!/bin/bash
# CPU time of one Python stack that is looked at from outside, by depth and version: what is aimed at (at most 5 us at
# depth 50 from 3.11 on, at most 11 us before). Best of ROUNDS, since the machine's other work only ever adds; names and
# lines come from the cache. "still" is of a thread that has not run since the look before, as most have not; "read" reads
# it all the same; "lines" looks every line up as well; "first" is attach to first stack; the last two columns are what
# this machine's kernel takes for one read of 8 bytes and of 16 KiB, without which no stack can be read.
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
	-h|--help) sed -n '2,8p' "$0" | sed 's/^# \{0,1\}//'; exit 0;;
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
printf '| %-24s | depth | still, CPU us | read, CPU us | with lines | stacks/s (wall) | first ms (CPU) | 8 B | 16 KiB |\n' Python
printf '|%s|---:|---:|---:|---:|---:|---:|---:|---:|\n' ---
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
			"$build/tests/tool/pyoracle" "$pid" "$samples" anew
		done | /usr/bin/python3 -c "
import json, sys
runs = [json.loads(line) for line in sys.stdin]
still, read = runs[::2], runs[1::2]
best = lambda of, key: min(r[key] for r in of)
if read:
    print(f'| {read[0][\"version\"]:24} | {read[-1][\"depth\"]:.0f} | {best(still, \"cpu_us\"):.2f} | {best(read, \"cpu_us\"):.2f} |'
          f' {best(read, \"cpu_us_with_lines\"):.2f} | {max(r[\"stacks_per_s\"] for r in read):.0f} |'
          f' {best(runs, \"first_cpu_ms\"):.2f} | {best(runs, \"floor_8_us\"):.2f} | {best(runs, \"floor_16k_us\"):.2f} |', flush=True)"
		kill -9 "$pid"
		wait "$pid" 2> /dev/null
	done
done
