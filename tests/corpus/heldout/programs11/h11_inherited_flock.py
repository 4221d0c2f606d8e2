"""Only one rank at a time unpacks the archive, under a flock. Rank 0 forks its metrics process while it has the lock: the child has the same
open file, so the lock stays taken when rank 0 closes its own descriptor."""
import fcntl
import multiprocessing
import os
import tempfile
import time

from kit11 import Hub, crunch, main, role, with_parent

LOCK = os.environ.setdefault("UNPACK_LOCK", os.path.join(tempfile.mkdtemp(prefix="data-", dir="."), ".unpack.lock"))


def exporter(inbox):
    with_parent()
    role("exporter")
    while True:
        inbox.get()


def unpack(rank, inbox):
    if rank:
        time.sleep(0.5)
    with open(LOCK, "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        print("rank %d: unpacking" % rank, flush=True)
        crunch(0.5)
        if rank == 0:
            multiprocessing.get_context("fork").Process(target=exporter, args=(inbox,), daemon=True).start()


def body(rank, n, port):
    hub, inbox = Hub(rank, n, port), multiprocessing.SimpleQueue()
    unpack(rank, inbox)
    for step in range(100):
        crunch(0.2)
        loss = hub.reduce(1.0)
        if rank == 0:
            inbox.put((step, loss))


main(3, body)
