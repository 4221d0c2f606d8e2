"""Two ranks that talk by a tree of TCP. Before its second stage rank 0 asks whoever looks after the run, and opens the
FIFO `answer` into which the answer is written; it comes after 60 s."""
import os
import sys
import time

from kit23 import Line, Tree, main, start, told


def ask():
    print("stage 1 is done. Go on with stage 2? Write y or n to ./answer", flush=True)
    with open("answer") as f:
        return f.readline().strip()


def answer_later():
    time.sleep(60)
    with open("answer", "w") as f:
        f.write("y\n")


def body(rank, world, port):
    if rank == 0:
        os.mkfifo("answer")
    tree, line = Tree(rank, world, port), Line(rank)
    for step in range(60):
        line.apply(tree.mean("gradient %d" % step, line.gradient()))
        if rank == 0:
            told(step, line.loss)
        if step == 30 and rank == 0:
            start([sys.executable, os.path.abspath(__file__), "operator"], "operator")
            if ask() != "y":
                raise SystemExit("stopped")


if "operator" in sys.argv:
    answer_later()
else:
    main(2, body)
