# A script of two stages, each of which holds the lock of the output folder while it runs, by a descriptor of its shell. The
# first starts a page for its curves in the background, which inherits the descriptor and with it the lock; the second
# stage waits for the lock.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
train() {
	for ((step = $1; step < $2; step++)); do
		sleep 0.2
		((step % 5)) || echo "step $step loss 0.$((900 - step))"
	done
}
(
	exec 9> output.lock
	flock 9
	"$1" -m http.server 0 --bind 127.0.0.1 > page.log 2>&1 &
	role page $!
	train 0 40
)
(
	exec 9> output.lock
	flock 9 &
	role flock $!
	wait $!
	train 40 80
)
