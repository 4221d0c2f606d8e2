#!/bin/bash
# Yesterday's job held a lock while it ran, and started a board in the background, which has its descriptors. Today's waits for the lock.
(
    exec 9>gpu0.lock
    flock 9
    python3 -c "import time; time.sleep(100000)" &
    echo "board $!" >> "$CORPUS_ROLES"
    echo "yesterday's job: done"
)
echo "main $$" >> "$CORPUS_ROLES"
for k in 1 2 3 4 5 6 7 8; do echo "preparing part $k"; sleep 0.3; done
exec 9>gpu0.lock
echo "waiting for the GPU"
flock 9 &
wait_pid=$!
echo "flock $wait_pid" >> "$CORPUS_ROLES"
wait $wait_pid
echo "training"
