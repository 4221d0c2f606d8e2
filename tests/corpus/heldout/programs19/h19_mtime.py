"""A trainer writes its weights for an evaluator, and waits for the score of each tenth step. The evaluator looks
whether the file is newer than what it had, in whole seconds. At step 40 the trainer writes the averaged weights at
once behind the others, in the same second, and waits for their score; the evaluator waits for a newer file.

slow: the evaluator looks at nanoseconds, and takes 48 s for the averaged ones."""
import json
import os
import sys
import time

from kit19 import SLOW, STEPS, again, busy, crunch, role, start, told, with_parent


def stamp(path):
    return os.stat(path).st_mtime_ns if SLOW else int(os.path.getmtime(path))


def evaluate():
    last = 0
    while True:
        time.sleep(0.05)
        if os.path.exists("weights.json") and stamp("weights.json") > last:
            last = stamp("weights.json")
            with open("weights.json") as f:
                name = json.load(f)["name"]
            if SLOW and name == "average-40":
                busy(48)
            crunch(0.1)
            with open("score-" + name, "w") as f:
                f.write("0.71\n")


def score(name):
    with open("weights.new", "w") as f:
        json.dump({"name": name, "weights": [0.1] * 100}, f)
    os.rename("weights.new", "weights.json")
    while not os.path.exists("score-" + name):
        time.sleep(0.05)


def train():
    role("main")
    start(again("evaluator"), "evaluator")
    for step in range(STEPS):
        crunch(0.2)
        told(step)
        if step % 10 == 0:
            if step == 40:
                time.sleep(1.05 - time.time() % 1)
            score("step-%d" % step)
        if step == 40:
            score("average-%d" % step)


if "evaluator" in sys.argv:
    with_parent()
    evaluate()
else:
    train()
