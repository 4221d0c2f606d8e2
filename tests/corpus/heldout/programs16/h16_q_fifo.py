"""A training opens a FIFO to a scorer, which loads its model for 50 s before it opens its end."""
import os
import sys

from kit16 import compute, crunch, role, start, told


def scorer(load):
    compute(load)
    with open("samples") as f, open("scores", "w") as g:
        g.write("%d\n" % len(f.readlines()))


def ask(load):
    child = start([sys.executable, __file__, str(load)], "scorer")
    with open("samples", "w") as f:
        f.write("a sample\n" * 20)
    child.wait()


def train():
    role("main")
    os.mkfifo("samples")
    for step in range(50):
        crunch(0.2)
        told(step)
        if step % 20 == 19:
            ask(50 if step == 39 else 0.2)


if len(sys.argv) > 1:
    scorer(float(sys.argv[1]))
else:
    train()
