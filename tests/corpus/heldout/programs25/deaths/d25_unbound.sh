# A script of a queue uses a variable that this queue does not set.
set -euo pipefail
for ((step = 0; step < 40; step += 5)); do
	sleep 0.2
	echo "step $step"
done
cp /dev/null "$SLURM_TMPDIR/model.bin"
