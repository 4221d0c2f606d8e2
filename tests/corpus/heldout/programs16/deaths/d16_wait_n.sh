#!/bin/bash
# Two workers in the background; the first one to fail ends the job, and the script has a word of its own.
python=$1
for n in 0 1; do
    "$python" -c '
import sys, time
number = int(sys.argv[1])
for step in range(0, 30, 5):
    if number == 0:
        print("step", step, flush=True)
    time.sleep(0.4)
    if number == 1 and step == 20:
        raise ValueError("Expected more than 1 sample for batch norm, got 1")' $n &
done
wait -n || { echo "a worker has failed, giving up" >&2; kill %1 %2 2> kill.txt; exit 1; }
wait
