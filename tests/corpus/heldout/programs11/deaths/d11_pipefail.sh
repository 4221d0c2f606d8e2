#!/bin/bash
# A shard was not copied to its end: gzip says so, and the pipe fails.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
for k in 1 2 3 4; do seq 20000 | gzip > "$folder/shard-$k.gz"; done
truncate -s 30000 "$folder/shard-3.gz"
for k in 1 2 3 4; do
	sleep 0.5
	lines=$(gzip -dc "$folder/shard-$k.gz" | wc -l)
	echo "shard $k: $lines lines"
done
echo "all shards counted"
