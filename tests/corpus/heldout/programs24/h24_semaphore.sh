# A script downloads shards, each under a semaphore of GNU parallel of one place (sem). For a shard that is packed it
# calls itself to unpack, and takes the semaphore once more: the inner one waits for the outer one's place, the outer one
# for its command.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
export PARALLEL_HOME=$PWD/parallel
mkdir -p "$PARALLEL_HOME"
touch "$PARALLEL_HOME/will-cite"
note='[ -z "$CORPUS_ROLES" ] || echo "$0 $$" >> "$CORPUS_ROLES"; exec "$@"'
role main $$
for ((step = 0; step < 200; step++)); do
	sleep 0.2
	((step % 5)) || echo "step $step shards $step"
	if ((step == 30)); then
		sh -c "$note" outer sem --fg --id download -j1 "sh -c '$note' inner sem --fg --id download -j1 touch unpacked"
	fi
done
