#!/bin/bash
# What does `vigil run -- true` add to `true`? In pairs, so that the machine's other work falls on both.
#   startcost.sh [ROUNDS=50]       VIGIL=path
set -u
here=$(cd "$(dirname "$0")" && pwd)
export BENCH_BIN=${BENCH_BIN:-$here/../build/bench}
. "$here/guards.sh"
why=$(guard_missing run)
if [ -n "$why" ]; then
	echo "{\"guard\":\"run\",\"not_measured\":\"$why\"}"
	exit 0
fi
VIGIL_STATE_DIR=$(mktemp -d)
export VIGIL_STATE_DIR
trap 'rm -rf "$VIGIL_STATE_DIR"' EXIT
"$BENCH_BIN/spawncost" "${1:-50}" true -- "$VIGIL" run --quiet -- true
