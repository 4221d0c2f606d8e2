#!/bin/bash
# Until memory is free again: SIGKILL alone, SIGKILL with process_mrelease, and vigil run's own way (release.c).
#   release.sh [--size BYTES=2G] [--rounds N=3] [--hogs N]        VIGIL=path
set -u
here=$(cd "$(dirname "$0")" && pwd)
export BENCH_BIN=${BENCH_BIN:-$here/../build/bench}
. "$here/guards.sh"
for way in kill reap; do
	"$BENCH_BIN/release" "$@" --way $way -- "$BENCH_BIN/hog" || exit
done
why=$(guard_missing run)
if [ -n "$why" ]; then
	echo "{\"way\":\"guard\",\"not_measured\":\"$why\"}"
	exit 0
fi
VIGIL_STATE_DIR=$(mktemp -d)
export VIGIL_STATE_DIR
trap 'rm -rf "$VIGIL_STATE_DIR"' EXIT
"$BENCH_BIN/release" "$@" --way guard -- "$VIGIL" run --quiet --retries 0 --grace 0 --memory-threshold 0.5 -- "$BENCH_BIN/hog"
