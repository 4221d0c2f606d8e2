"""Rank 1 prepares the data under a lock of a file, which a loader of the job before still has: that one waits for
a line of its trainer, which is gone, and has the writing end of the pipe itself. "slow": it has work left for
50 s."""
import fcntl
import os
import sys
import time

from kit13 import SLOW, Hub, crunch, main, role


def loader():
    role("loader")
    lock = open("data.lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    mine, _ = os.pipe()
    open("locked", "w").close()
    if SLOW:
        time.sleep(50)
    else:
        os.read(mine, 1)


def prepare():
    with open("data.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        time.sleep(1)
    return 1


def body(rank, world, port):
    hub = Hub(rank, world, port)
    hub.reduce(prepare() if rank == 1 else 0)
    for step in range(30):
        crunch(0.1)
        hub.reduce(step)
        if rank == 0:
            print("{'step': %d, 'loss': %.3f}" % (step, 2 / (step + 1)), flush=True)


if __name__ == "__main__":
    loader() if "loader" in sys.argv else main(3, body)
