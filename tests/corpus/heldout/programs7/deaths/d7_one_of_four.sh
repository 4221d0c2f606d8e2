#!/bin/bash
# A launcher that starts four and gives the worst status; the third fails.
for r in 0 1 2 3; do
    RANK=$r WORLD_SIZE=4 "$1" -u -c '
import os, sys, time
r = int(os.environ["RANK"])
for n in range(8):
    print("rank", r, "step", n, flush=True)
    time.sleep(0.2)
if r == 2:
    sys.exit("rank 2: dataset fingerprint differs from that of rank 0")
' &
    pids="$pids $!"
done
worst=0
for p in $pids; do wait "$p" || worst=$?; done
echo "launcher: worst status $worst"
exit $worst
