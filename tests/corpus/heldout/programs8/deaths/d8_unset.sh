set -u
for n in 1 2 3 4 5; do
	echo "stage $n"
	sleep 0.3
done
echo "saving to $CHECKPOINT_BUCKET/run"
