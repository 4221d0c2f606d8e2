# The same inside a cgroup v2 whose memory.max is 256 MiB.
group=/sys/fs/cgroup/race-test
echo +memory > /sys/fs/cgroup/cgroup.subtree_control
mkdir $group
echo 256M > $group/memory.max
echo 0 > $group/memory.swap.max 2>/dev/null
n=0
for ways in "--threads 2" "--rate 50M --prefill 128M" "--way shm"; do
	n=$((n + 1))
	(
		echo 0 > $group/cgroup.procs
		exec "$BIN/race" --memcg $group --free 0.05 --warm 1s --timeout 30s -- \
			"$VIGIL" run --quiet -- "$BIN/hog" $ways
	) > "$OUT/race.$n.json"
done
fact races $n
fact events "$(cat $group/memory.events)"
explain
find $group -depth -type d -exec rmdir {} +
