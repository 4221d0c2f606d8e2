"""slow6/kit6.py for the jobs here, and a queue of reads in advance."""
import os
import queue
import sys
import threading

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "slow6"))
from kit6 import *  # noqa: E402,F401,F403
from kit6 import Butterfly, Hub, Laps, Mesh, Ring, STOP, Tree, by_launcher, clock, dial, disk, free_port, listen, over, ranks, receive  # noqa: E402,F401
from kit6 import role, send, slow, start, vote, with_parent, work  # noqa: E402,F401


def ahead(read, depth=2):
    """Items that a thread reads in advance."""
    items = queue.Queue(depth)

    def fill():
        n = 0
        while True:
            items.put(read(n))
            n += 1
    threading.Thread(target=fill, name="prefetch", daemon=True).start()
    return items


def loop(rank, group, before, told, length=210):
    """Steps until rank 0 wants to end: before(step) is the rank's own part; told(step) is printed by rank 0."""
    laps, step, total = Laps(rank), 0, 0
    while total < STOP:
        before(step)
        laps.mine()
        total = group.reduce(vote(rank, length))
        laps.done()
        step += 1
        if rank == 0:
            print(told(step), flush=True)
