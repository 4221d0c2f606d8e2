"""Three ranks. The scheduler warns rank 1 by SIGUSR1 before its time is over; the handler writes the statistics, under the
lock which the loop held when the signal came. The others wait in the sum."""
import os
import signal
import threading

from kit28 import STALL, STEPS, Star, compute, main, tell


class Stats:
    def __init__(self):
        self.lock, self.rows = threading.Lock(), []

    def add(self, row):
        with self.lock:
            self.rows.append(row)
            if row == STALL:
                os.kill(os.getpid(), signal.SIGUSR1)

    def dump(self, *_):
        with self.lock:
            with open("stats.txt", "w") as f:
                f.write("\n".join(map(str, self.rows)))


def body(rank, world, port):
    star, stats = Star(rank, world), Stats()
    signal.signal(signal.SIGUSR1, stats.dump)
    for step in range(STEPS):
        compute()
        if rank == 1:
            stats.add(step)
        star.mean("grad/%d" % step, 0.5)
        if rank == 0:
            tell(step, "epoch")


main(3, body)
