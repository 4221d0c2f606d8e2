"""A reporter asks worker 1 four times for its numbers by SIGUSR1; the handler wants the lock under which the interrupted code adds up."""
import os
import signal
import sys
import threading
import time

import kit8


def report(pid):
    time.sleep(8)
    for _ in range(4):
        os.kill(pid, signal.SIGUSR1)
        time.sleep(1.9)
    signal.pause()


def train(rank, n, port):
    star, lock, stats = kit8.Star(rank, n, port), threading.Lock(), {"tokens": 0}

    def dump(number, frame):
        with lock:
            open("stats.txt", "w").write(repr(stats))

    signal.signal(signal.SIGUSR1, dump)
    if rank == 1:
        kit8.start([sys.executable, __file__, "report", str(os.getpid())], "reporter")
    for step in range(1000):
        with lock:
            kit8.crunch(0.3)
            stats["tokens"] += 4096
        loss = star.mean(1.0)
        if rank == 0:
            print("%s INFO step=%d loss=%.3f tokens=%d" % (time.strftime("%H:%M:%S"), step, loss, stats["tokens"]), flush=True)


if sys.argv[1:2] == ["report"]:
    report(int(sys.argv[2]))
else:
    kit8.ranks(3, train)
