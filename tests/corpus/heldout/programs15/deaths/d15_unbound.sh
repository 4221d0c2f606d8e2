# After training a script copies the checkpoint to a folder whose name was not set.
set -eu
for step in $(seq 0 5 60); do
    echo "step $step loss 1.$step"
    sleep 0.6
done
touch last.ckpt
cp last.ckpt "$CKPT_ARCHIVE_DIR/last.ckpt"
echo "done"
