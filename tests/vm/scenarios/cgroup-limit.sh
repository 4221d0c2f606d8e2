# The limit of a systemd scope is hit with the guard switched off.
export OUT VIGIL BIN
ordinary systemd-run --quiet --scope --unit=limited -p MemoryMax=96M -p MemorySwapMax=0 \
	"$VIGIL" run --quiet --memory-threshold 0 -- "$BIN/hog" --max 400M --hold 0 > "$OUT/run.out" 2> "$OUT/run.err"
fact run.status $?
explain
# What vigil takes for itself is not for the job.
fact child.adj "$(ordinary "$VIGIL" run --quiet -- cat /proc/self/oom_score_adj)"
