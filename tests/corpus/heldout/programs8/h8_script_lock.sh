# A nightly script holds a lock and calls another one of the same kit, which takes the lock first as well.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >>"$CORPUS_ROLES"; }
if [ "$1" = clean ]; then
	note cleaner $$
	exec flock nightly.lock sh -c 'rm -f shard.*.tmp; echo cleaned'
fi
note main $$
exec 9>nightly.lock
flock 9
for n in $(seq 1 20); do
	sleep 0.2
	echo "packed shard $n/20"
	: >"shard.$n.tmp"
done
bash "$0" clean
echo "night is over"
