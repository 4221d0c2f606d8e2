# A script for the batch system is started by hand: a variable of that system is not set.
set -eu
"$1" -u -c '
import time
for step in range(35):
    time.sleep(0.1)
    if step % 5 == 0:
        print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)))'
echo "saving the results"
mkdir -p "results/$SLURM_ARRAY_TASK_ID"
