#!/bin/bash
# A shard that was cut off is unpacked into a counter, with pipefail.
set -eo pipefail
head -c 300000 /dev/urandom | gzip -c > shard.gz
head -c 200000 shard.gz > cut.gz
for step in 0 5 10 15; do
    echo "step $step"
    sleep 0.5
done
gzip -dc cut.gz | wc -c
echo "all shards are read"
