# A hog with two threads, a slow one, and one that ignores SIGTERM, on the whole machine, against the real killer.
fact kills.before "$(oom_kill_counter)"
n=0
for ways in "--threads 2" "--rate 100M --prefill 250M" "--trap-term"; do
	n=$((n + 1))
	"$BIN/race" --free 0.05 --warm 1s --timeout 30s -- "$VIGIL" run --quiet -- "$BIN/hog" $ways > "$OUT/race.$n.json"
done
fact races $n
fact kills.after "$(oom_kill_counter)"
explain
