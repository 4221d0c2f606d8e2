# Somebody's kill -9, on a kernel where BPF may watch signals: the sender is named.
page=/run/killed.page
make_page $page
ordinary "$VIGIL" run --quiet -- "$BIN/hog" --prefill 8M --page $page --max 1M --hold 60s > "$OUT/run.out" 2> "$OUT/run.err" &
vigil=$!
wait_for 20 hog_ready $page
read -rt 2 <> <(:) # the signal watch is loaded beside the job's start, not before it
pid=$(hog_pid $page)
python3 -c "import os, sys; print(os.getpid(), flush=True); os.kill($pid, 9)" > "$OUT/sender"
wait $vigil
fact run.status $?
explain
