"""Three ranks prepare the data of a second stage, one at a time under a lock of a file. The barrier behind it stands
inside of the `with`: rank 0 has the lock and waits for the others, who want the lock.

slow: the barrier is outside, and the first one prepares for 48 s."""
import contextlib
import fcntl
import os

from kit21 import SLOW, STEPS, Hub, busy, crunch, main, told


@contextlib.contextmanager
def locked(path):
    with open(path, "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def tokenize():
    if not os.path.exists("tokens"):
        busy(48 if SLOW else 1)
        open("tokens", "w").close()


def prepare(hub, rank):
    if rank:
        crunch(0.4)
    with locked("prepare.lock"):
        tokenize()
        if not SLOW:
            hub.mean("prepared", 1)
    if SLOW:
        hub.mean("prepared", 1)


def body(rank, world, port):
    hub = Hub(rank, world, port)
    for step in range(STEPS):
        crunch(0.2)
        hub.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)
        if step == 40:
            prepare(hub, rank)


main(3, body)
