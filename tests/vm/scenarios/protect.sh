# --protect: the job stands at -900, this can be seen, and the kernel passes it over for a smaller process. The killer is
# called by hand (sysrq f): its choice is the same, and nobody waits for a full machine to stop thrashing.
page=/run/protect.page other=/run/other.page
make_page $page
make_page $other
ordinary "$VIGIL" run --protect --memory-threshold 0 -- "$BIN/hog" --prefill 150M --page $page --max 1M --hold 60s \
	> "$OUT/run.out" 2> "$OUT/run.err" &
vigil=$!
wait_for 40 hog_ready $page
pid=$(hog_pid $page)
is_protected() { [ "$(cat "/proc/$pid/oom_score_adj")" -lt 0 ]; }
wait_for 10 is_protected
fact adj "$(cat "/proc/$pid/oom_score_adj")"
"$VIGIL" protect --json "$pid" > "$OUT/protect.json" 2> "$OUT/protect.err"
fact protect.status $?
ordinary "$BIN/hog" --prefill 100M --page $other --max 1M --hold 60s &
hog=$!
wait_for 40 hog_ready $other
fact kills.before "$(oom_kill_counter)"
echo f > /proc/sysrq-trigger
wait $hog
fact other.status $?
fact kills.after "$(oom_kill_counter)"
kill -0 "$pid" && fact alive yes || fact alive no
kill -KILL "$pid"
wait $vigil || :
