set -eo pipefail
echo "main $$" >> "$CORPUS_ROLES"
for k in 1 2 3 4; do echo "epoch $k"; sleep 0.2; done
seq 200000 | gzip > whole.gz
head -c 100000 whole.gz > shard-0009.gz
gzip -dc < shard-0009.gz | wc -l > lines
echo "counted"
