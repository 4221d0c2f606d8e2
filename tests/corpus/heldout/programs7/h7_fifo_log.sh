#!/bin/bash
# A trainer writes its log into a FIFO; the process that shipped it left with 0 at its limit of lines, the next epoch cannot open it.
python=$1
echo "main $$" >>"$CORPUS_ROLES"
mkfifo log.pipe
head -n 12 <log.pipe >shipped.log &
echo "shipper $!" >>"$CORPUS_ROLES"
for epoch in 1 2 3; do
    "$python" -c '
import time
for n in range(12):
    time.sleep(0.2)
    print("step", n, "loss", round(2 / (n + 1), 3), flush=True)' >log.pipe
    echo "epoch $epoch done"
done
