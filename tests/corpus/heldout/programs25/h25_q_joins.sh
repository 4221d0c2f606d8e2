# A spot machine comes back late: rank 2 of three is taken away at step 100 of the others and started anew after 70 s, with
# what it had in its file; the others wait for its word in the folder of the job meanwhile.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
train='
	for ((step = $1; step < $2; step++)); do
		sleep 0.18
		: > said-$step-$RANK
		for other in 0 1 2; do until [ -e said-$step-$other ]; do sleep 0.05; done; done
		((RANK || step % 5)) || echo "step $step loss 0.$((900 - step))"
	done'
for rank in 0 1; do
	RANK=$rank WORLD_SIZE=3 bash -c "$train" trainer 0 120 &
	role rank$rank $!
done
RANK=2 WORLD_SIZE=3 bash -c "$train" trainer 0 100 &
role rank2 $!
wait $!
sleep 70
RANK=2 WORLD_SIZE=3 bash -c "$train" trainer 100 120 &
role rank2 $!
wait
