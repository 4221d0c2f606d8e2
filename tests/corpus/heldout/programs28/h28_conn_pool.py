"""Features come from a store through a pool of one connection. At step 110 a missing feature is asked for while the
connection is still checked out for the row that lacks it. Prints nothing.

slow: the store answers after 66 s."""
import contextlib
import queue
import sys
import time

from kit28 import SLOW, STALL, STEPS, compute, dial, free_port, listen, part, receive, role, send


class Pool:
    def __init__(self, port, size):
        self.idle = queue.LifoQueue()
        for _ in range(size):
            self.idle.put(dial(port))

    @contextlib.contextmanager
    def connection(self):
        end = self.idle.get()
        try:
            yield end
        finally:
            self.idle.put(end)


def default_of(pool, name):
    with pool.connection() as end:
        send(end, name)
        return receive(end)


def row(pool, step):
    with pool.connection() as end:
        send(end, step)
        found = receive(end)
        return default_of(pool, "mean") if found is None else found


if "store" in sys.argv:
    end = listen(int(sys.argv[2])).accept()[0]
    while True:
        asked = receive(end)
        if asked == STALL and SLOW:
            time.sleep(66)
        send(end, None if asked == STALL and not SLOW else 0.25)
else:
    role("main")
    port = free_port()
    part("store", port)
    pool = Pool(port, 1)
    for step in range(STEPS):
        compute()
        row(pool, step)
