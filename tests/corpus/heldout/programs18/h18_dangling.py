"""A trainer writes a checkpoint, has the link ckpts/latest point to it, and asks an evaluator through a pipe for a
score. It made the link from its own folder: seen from the link's there is no such file. The evaluator waits until
ckpts/latest exists, the trainer for the score."""
import os
import subprocess
import sys
import time

from kit18 import again, crunch, role, start, told


def await_checkpoint():
    while not os.path.exists("ckpts/latest"):
        time.sleep(0.5)


def evaluate():
    for request in sys.stdin:
        await_checkpoint()
        crunch(0.5)
        print("0.8", flush=True)


def checkpoint(step):
    os.makedirs("ckpts", exist_ok=True)
    with open("ckpts/step-%d" % step, "w") as f:
        f.write("weights\n" * 1000)
    os.symlink("ckpts/step-%d" % step, "ckpts/new")
    os.replace("ckpts/new", "ckpts/latest")


def train():
    role("main")
    evaluator = start(again("evaluate"), "evaluator", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for step in range(400):
        crunch(0.2)
        told(step)
        if step == 45:
            checkpoint(step)
            print("score", file=evaluator.stdin, flush=True)
            print("score %s" % evaluator.stdout.readline().strip(), flush=True)


if "evaluate" in sys.argv:
    evaluate()
else:
    train()
