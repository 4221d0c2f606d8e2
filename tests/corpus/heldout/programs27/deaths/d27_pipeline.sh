# A pipeline of a script with pipefail; its first command has no such file.
set -euo pipefail
for ((k = 0; k < 20; k++)); do
	sleep 0.15
	((k % 5)) || echo "shard $k packed"
done
cat corpus/part-20.jsonl | gzip > part-20.gz
echo "all packed"
