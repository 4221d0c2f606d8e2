# A batch script with `set -u` that uses a variable which the cluster does not set on this machine.
set -euo pipefail
for ((step = 0; step < 20; step++)); do
	sleep 0.1
	((step % 5)) || echo "step $step copied $((step * 64)) MiB"
done
cp -r data "$SLURM_TMPDIR_LOCAL/data"
