#!/bin/bash
# A stage has four seconds; timeout ends it, and the script leaves with timeout's status.
python=$1
echo "stage: deduplicate"
timeout 4 "$python" -u -c '
import time
for k in range(1000):
    print("bucket %d of 1000" % k, flush=True)
    time.sleep(0.2)'
code=$?
[ "$code" -eq 0 ] || exit "$code"
echo "stage: tokenize"
