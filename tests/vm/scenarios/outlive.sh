# Subsets of vigil's processes are killed, and what the job's group of version 2 is left with is read 5 s later.
ordinary python3 /bench/outlive.py --trials "${TRIALS:-3}" --parallel 4 --seed 7 --json > "$OUT/trials.json" 2> "$OUT/trials.err" || :
