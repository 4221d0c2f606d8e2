#!/bin/bash
# vigil protect where it may do everything: systemd, control groups of version 2, systemd-oomd, lowering allowed.
# Each line of output is a check; the first that fails ends the script with status 1.
. "$(dirname "$0")/lib.sh"
VIGIL=${VIGIL:-$BIN/vigil}
export VIGIL_STATE_DIR=${VIGIL_STATE_DIR:-/tmp/vigil-protect-state}
UNIT=vigil-protect-test
GROUP=/sys/fs/cgroup/system.slice/$UNIT.service

check()
{
	local what=$1
	shift
	if "$@"; then
		echo "ok: $what"
	else
		echo "FAILED: $what ($*)"
		systemctl stop "$UNIT"
		exit 1
	fi
}

attribute() # NAME: its value, or nothing
{
	python3 -c 'import os, sys
try:
    print(os.getxattr(sys.argv[1], sys.argv[2]).decode())
except OSError:
    pass' "$GROUP" "$1"
}

holds() { [ "$(cat "$1")" "$2" "$3" ]; }
attribute_is() { [ "$(attribute "$1")" = "$2" ]; }
preference_is() { [ "$(systemctl show -p ManagedOOMPreference --value $UNIT)" = "$1" ]; }
names_threat() { "$VIGIL" protect "$PID" --dry-run --json | grep -q "\"id\": \"$1\""; }

systemctl start systemd-oomd
systemd-run -q --unit=$UNIT -p MemoryMax=600M python3 -c '
import time
block = bytearray(64 << 20)
for i in range(0, len(block), 4096):
    block[i] = 1
open("/tmp/vigil-protect-ready", "w").close()
time.sleep(600)'
wait_for 60 test -e /tmp/vigil-protect-ready || exit 1
PID=$(systemctl show -p MainPID --value $UNIT)

check "protect succeeds" "$VIGIL" protect "$PID"
check "the score is lowered" holds "/proc/$PID/oom_score_adj" -eq -900
check "memory is kept" holds "$GROUP/memory.low" -gt $((60 << 20))
check "systemd-oomd is asked to spare the group" attribute_is user.oomd_avoid 1
check "the unit says so too" preference_is avoid
systemctl daemon-reload
check "memory is kept over a reload of systemd" holds "$GROUP/memory.low" -gt $((60 << 20))
check "so is the wish to be spared" attribute_is user.oomd_avoid 1
for threat in cgroup-limit memory-low-not-granted adj-is-not-for-oomd people; do
	check "$threat is named" names_threat $threat
done
check "the highest level succeeds" "$VIGIL" protect "$PID" --level max
check "the score is the lowest" holds "/proc/$PID/oom_score_adj" -eq -1000
check "memory is kept hard" holds "$GROUP/memory.min" -gt $((60 << 20))
check "the group is left out by systemd-oomd" attribute_is user.oomd_omit 1
check "restore succeeds" "$VIGIL" protect "$PID" --restore
check "the score is back" holds "/proc/$PID/oom_score_adj" -eq 0
check "memory.low is back" holds "$GROUP/memory.low" -eq 0
check "memory.min is back" holds "$GROUP/memory.min" -eq 0
check "the wishes are gone" attribute_is user.oomd_avoid ""
check "both of them" attribute_is user.oomd_omit ""
check "and from the unit" preference_is none
systemctl stop $UNIT
