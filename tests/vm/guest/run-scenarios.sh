#!/bin/bash
# Inside the throw-away machine: run the scenarios named, one after another, each with a state folder and a deadline of
# its own. A scenario that does not end leaves status 124 and the next one starts.
here=$(cd "$(dirname "$0")" && pwd)
echo -1000 > /proc/self/oom_score_adj
for name in "$@"; do
	export OUT=$VM_OUT/$name VIGIL_STATE_DIR=/var/tmp/vigil-$name
	mkdir -p "$OUT"
	started=$SECONDS
	timeout -k 2 "${SCENARIO_TIMEOUT:-200}" bash -c '. "$1"; . "$2"' scenario "$here/lib.sh" "$here/../scenarios/$name.sh" \
		> "$OUT/stdout" 2> "$OUT/stderr"
	echo $? > "$OUT/status"
	echo $((SECONDS - started)) > "$OUT/seconds"
	dmesg -T | tail -n 40 > "$OUT/dmesg"
	echo "$name: status $(cat "$OUT/status") after $((SECONDS - started)) s"
done
