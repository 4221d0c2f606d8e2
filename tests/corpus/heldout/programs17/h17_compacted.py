"""An evaluator follows a trainer's progress file: it reads lines from the place where it was last. After step 40 the
trainer compacts the file, which is then shorter than that place: the evaluator waits for more. The trainer looks for
the evaluation of step 50, for which the evaluator would have to read its line.

slow: it is not compacted; the evaluator works for 48 s."""
import json
import os
import sys
import time

from kit17 import SLOW, busy, crunch, me, role, start, told


def evaluate():
    me("evaluator")
    while not os.path.exists("progress.jsonl"):
        time.sleep(0.1)
    with open("progress.jsonl") as f:
        while True:
            line = f.readline()
            if not line:
                time.sleep(0.2)
                continue
            step = json.loads(line)["step"]
            if step % 10 == 0:
                busy(48 if SLOW and step == 50 else 0.2)
                with open("eval-%d.json" % step, "w") as out:
                    out.write("{}\n")


def note(step):
    with open("progress.jsonl", "a") as f:
        f.write(json.dumps({"step": step, "loss": 2.5 / (1 + step), "rate": 2e-4}) + "\n")


def compact():
    with open("progress.jsonl") as f:
        lines = f.readlines()
    with open("progress.jsonl", "w") as f:
        f.writelines(lines[::10])


def await_evaluation(step):
    while not os.path.exists("eval-%d.json" % step):
        time.sleep(0.2)


def train():
    role("main")
    start([sys.executable, *sys.argv, "evaluate"], "evaluator")
    for step in range(1, 70 if SLOW else 400):
        crunch(0.2)
        note(step)
        told(step)
        if step % 10 == 0:
            await_evaluation(step)
        if step == 40 and not SLOW:
            time.sleep(0.5)
            compact()


evaluate() if "evaluate" in sys.argv else train()
