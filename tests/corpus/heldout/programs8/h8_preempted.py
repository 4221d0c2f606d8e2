"""A scheduler tells worker 2 by SIGTERM that it will be taken away; it saves and waits for the word of worker 0, who knows of nothing."""
import os
import signal
import sys
import time

import kit8

ASKED = []


def warn(pid):
    time.sleep(7)
    os.kill(pid, signal.SIGTERM)


def train(rank, n, port):
    star = kit8.Star(rank, n, port)
    signal.signal(signal.SIGTERM, lambda number, frame: ASKED.append(number))
    if rank == 2:
        kit8.start([sys.executable, __file__, "warn", str(os.getpid())], "scheduler")
    for step in range(1000):
        kit8.crunch(0.3)
        if ASKED:
            print("[%d] preemption requested, checkpoint written, leaving together" % rank, flush=True)
            return star.tell()
        loss = star.mean(2.0 / (step + 1))
        if rank == 0:
            print("[0] {:>6} | {:.4f} | {:.1f} it/s".format(step, loss, 3.3), flush=True)


if sys.argv[1:2] == ["warn"]:
    warn(int(sys.argv[2]))
else:
    kit8.ranks(4, train)
