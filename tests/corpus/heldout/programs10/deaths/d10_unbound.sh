set -u
for k in 1 2 3 4; do echo "preprocessing part $k"; sleep 0.3; done
echo "training with $SHARD_ROOT/train"
"$1" -c "print('trained')"
