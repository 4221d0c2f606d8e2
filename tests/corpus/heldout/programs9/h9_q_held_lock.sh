#!/bin/bash
# The GPU's lock is held by the job before, whose last upload runs in the background for a minute and has its descriptors.
(
    exec 9>gpu0.lock
    flock 9
    python3 -c "import time; time.sleep(64)" &
    echo "upload $!" >> "$CORPUS_ROLES"
    echo "the job before: trained, uploading"
)
echo "main $$" >> "$CORPUS_ROLES"
for k in 1 2 3 4 5 6 7 8; do echo "preparing part $k"; sleep 0.3; done
exec 9>gpu0.lock
echo "waiting for the GPU"
flock 9
for k in 1 2 3 4 5 6 7 8; do echo "training step $k"; sleep 0.3; done
