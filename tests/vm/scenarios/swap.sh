# A machine with swap: vigil's guard acts before the kernel's killer, and its numbers agree with the kernel's.
fact kills.before "$(oom_kill_counter)"
fact swap.total "$(awk '/^SwapTotal/ { print $2 * 1024 }' /proc/meminfo)"
run_vigil --quiet -- "$BIN/hog" --rate 200M --hold 0
fact kills.after "$(oom_kill_counter)"
