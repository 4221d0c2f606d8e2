"""A training and an evaluator that is told of new checkpoints by inotify. For its second phase the training makes the
folder anew: the evaluator watches the one that was removed. The training waits for a score.

slow: the folder stays, and one evaluation takes 60 s."""
import ctypes
import os
import shutil
import sys
import time

from kit23 import SLOW, Line, busy, role, start, told

CLOSED_AFTER_WRITING = 8


def watch(folder):
    libc = ctypes.CDLL(None)
    fd = libc.inotify_init1(0)
    libc.inotify_add_watch(fd, folder.encode(), CLOSED_AFTER_WRITING)
    print("watching", folder, flush=True)
    while True:
        events = os.read(fd, 4096)
        while events:
            size = int.from_bytes(events[12:16], "little")
            name, events = events[16:16 + size].rstrip(b"\0").decode(), events[16 + size:]
            if name.startswith("checkpoint-"):
                evaluate(folder, name)


def evaluate(folder, name):
    busy(60 if SLOW and name.endswith("-30") else 0.4)
    with open(folder + "/score.new", "w") as f:
        f.write("0.71\n")
    os.rename(folder + "/score.new", folder + "/score-" + name)


def wait_score(step):
    while not os.path.exists("run/score-checkpoint-%d" % step):
        time.sleep(0.2)


def train():
    role("main")
    os.makedirs("run")
    evaluator = start([sys.executable, os.path.abspath(__file__), "watch"] + sys.argv[1:], "evaluator")
    time.sleep(1)
    line = Line(0)
    for step in range(45 if SLOW else 500):
        line.apply(line.gradient())
        told(step, line.loss)
        if step == 25 and not SLOW:
            shutil.rmtree("run")
            os.makedirs("run")
        if step % 10 == 0:
            with open("run/checkpoint-%d" % step, "w") as f:
                f.write("%f\n" % line.slope)
            wait_score(step)
    evaluator.kill()


if "watch" in sys.argv:
    watch("run")
else:
    train()
