# A job that fits, with a limit of its own, in a scope that may be divided: what does vigil write into the job's group?
page=/run/high.page
make_page $page
ordinary systemd-run --quiet --scope --unit=high -p Delegate=yes -p MemoryMax=300M \
	"$VIGIL" run --quiet -- "$BIN/hog" --prefill 32M --page $page --max 1M --hold 60s > "$OUT/run.out" 2> "$OUT/run.err" &
vigil=$!
wait_for 20 hog_ready $page
pid=$(hog_pid $page)
group=$(sed -n 's/^0:://p' "/proc/$pid/cgroup")
fact group "$group"
for f in memory.high memory.max cgroup.freeze; do
	fact $f "$(cat "/sys/fs/cgroup$group/$f")"
done
kill -KILL "$pid"
wait $vigil
fact run.status $?
