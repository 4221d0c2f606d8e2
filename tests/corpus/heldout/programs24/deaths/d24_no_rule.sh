# Data are prepared by make; the recipe of one shard names a source that is not there.
{
	echo "all: shard-0 shard-1 shard-2"
	for k in 0 1; do
		printf 'shard-%s:\n\t@sleep 0.8; echo step %s shards %s; touch $@\n' $k $((5 * k)) $k
	done
	printf 'shard-2: raw/part-2.jsonl\n\t@touch $@\n'
} > data.mk
for ((step = 0; step < 10; step++)); do
	sleep 0.1
	((step % 5)) || echo "step $step loss 0.5"
done
exec make --no-print-directory -f data.mk
