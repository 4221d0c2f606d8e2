# A batch script: a loop that writes the load of the machine to a file runs in the background, the training as well, and
# the script waits for all of its children. The training ends; the loop never does.
#
# slow (as $1): the script waits for the training only, which says nothing for 48 s.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
train() {
	for ((step = 0; step < 40; step++)); do
		sleep 0.2
		((step % 5)) || echo "step $step loss 0.$((900 - 9 * step))"
	done
	[ "$1" != slow ] || sleep 48
	echo "saved model.bin"
}
monitor() {
	while true; do
		cat /proc/loadavg >> load.txt
		sleep 5
	done
}
monitor &
role monitor $!
watched=$!
train "$1" &
role train $!
if [ "$1" = slow ]; then
	wait $!
	kill $watched
else
	wait
fi
echo "all done"
