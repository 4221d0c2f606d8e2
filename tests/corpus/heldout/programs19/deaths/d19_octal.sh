# A script reckons with the number of its task, which has a zero before it: 08 is no number in octal. The seed is then
# missing, and the evaluation does not begin.
set -e
task=08
"$1" -u -c '
import time
for step in range(35):
    time.sleep(0.1)
    if step % 5 == 0:
        print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)))'
seed=$((task * 1000 + 7))
"$1" -c '
import argparse
parser = argparse.ArgumentParser("evaluate")
parser.add_argument("--seed", type=int, required=True)
print("evaluation with seed", parser.parse_args().seed)' --seed $seed
