#!/bin/bash
# A loader writes batches into a FIFO, a trainer reads them; the trainer opens the FIFO for both ways so as not to wait
# for the loader. The script ends both before the time is over: the loader goes at once, the trainer wants to finish
# its step, and waits for a batch from a FIFO that only it itself has open. The script waits for the trainer.
python=$1
note() { [ -n "$CORPUS_ROLES" ] && echo "$1 $2" >> "$CORPUS_ROLES"; }
note main $$
mkfifo batches

cat > trainer.py <<'PY'
import os
import signal
stop = []
signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
fifo = os.fdopen(os.open("batches", os.O_RDWR), "rb", buffering=0)
def next_batch():
    return fifo.read(64)
step = 0
while not stop or step % 10:
    next_batch()
    if step % 5 == 0:
        print("step", step, flush=True)
    step += 1
print("saved at step", step)
PY

"$python" -c '
import time
with open("batches", "wb", buffering=0) as f:
    while True:
        time.sleep(0.2)
        f.write(bytes(64))' &
loader=$!
note loader $loader
"$python" trainer.py &
trainer=$!
note trainer $trainer
sleep 9
kill -TERM $loader $trainer
wait $loader $trainer
echo "job done"
