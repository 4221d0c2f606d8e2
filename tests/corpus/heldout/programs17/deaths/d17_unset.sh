# A script with set -u: a variable of the cluster is not there.
set -eu
for step in 0 5 10 15; do
    echo "step $step loss 1.$step"
    sleep 0.4
done
echo "stage 2: copies the checkpoint to the scratch disk"
cp /dev/null "$LOCAL_SCRATCH_DIR/checkpoint"
echo "copied"
