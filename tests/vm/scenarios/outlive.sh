# Subsets of vigil's processes are killed, and what the job's group of version 2 is left with is read 5 s later. Two at a
# time: with two hogs at once the machine itself runs short, and vigil ends a job for that.
ordinary python3 /bench/outlive.py --trials "${TRIALS:-3}" --parallel 2 --seed 7 --json > "$OUT/trials.json" 2> "$OUT/trials.err" || :
