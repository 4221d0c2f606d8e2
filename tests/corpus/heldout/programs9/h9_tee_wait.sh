#!/bin/bash
# All output goes through tee, started by the script. At the end it waits for all its children, and tee for the end of the script.
echo "main $$" >> "$CORPUS_ROLES"
coproc TEE { exec tee -a job.log >&2; }
echo "tee $TEE_PID" >> "$CORPUS_ROLES"
exec >&"${TEE[1]}"
for shard in 0 1 2; do
    (for k in $(seq 8); do echo "shard $shard part $k done"; sleep 0.4; done) &
done
wait
echo "all shards done"
