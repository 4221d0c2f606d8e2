# The machine runs full with vigil's guard switched off: the kernel ends the job, vigil says who it was.
fact kills.before "$(oom_kill_counter)"
run_vigil --quiet --memory-threshold 0 -- "$BIN/hog" --hold 0
fact kills.after "$(oom_kill_counter)"
