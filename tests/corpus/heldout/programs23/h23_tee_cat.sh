# A stream of samples is copied by tee: one copy for the training set, one by way of a FIFO for a second pass. The
# reader reads the first to its end and then the second: the FIFO becomes full, tee waits for its reader, the reader for
# tee.
#
# slow (as $1): the source needs 48 s for a part.
role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
role main $$
mkfifo second
samples() {
	[ "$1" = slow ] && n=28 || n=400
	for ((step = 0; step < n; step++)); do
		sleep 0.2
		[ "$1-$step" != slow-20 ] || sleep 48
		((step % 5)) || echo "step $step samples $((step * 16))" >&2
		printf '%02000d\n' $step
	done
}
note='[ -z "$CORPUS_ROLES" ] || echo "$0 $$" >> "$CORPUS_ROLES"; exec "$@"'
samples "$1" | sh -c "$note" tee tee second | {
	exec 8< second
	sh -c "$note" reader cat > first.txt
	sh -c "$note" again cat <&8 > again.txt
}
echo "all samples are copied"
