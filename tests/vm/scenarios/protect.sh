# --protect: the job stands at -900, can be seen to, and the kernel passes it over for a smaller process.
page=/run/protect.page
make_page $page
ordinary "$VIGIL" run --quiet --protect --memory-threshold 0 -- "$BIN/hog" --prefill 150M --page $page --max 1M --hold 60s \
	> "$OUT/run.out" 2> "$OUT/run.err" &
vigil=$!
wait_for 30 hog_ready $page
pid=$(hog_pid $page)
fact adj "$(cat "/proc/$pid/oom_score_adj")"
ordinary "$BIN/hog" --hold 0
fact other.status $?
kill -0 "$pid" && fact alive yes || fact alive no
"$VIGIL" protect --json "$pid" > "$OUT/protect.json" 2> "$OUT/protect.err"
fact protect.status $?
kill -KILL "$pid"
wait $vigil
