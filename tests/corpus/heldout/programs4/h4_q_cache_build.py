"""Whoever is first takes the lock and builds the cache of the data set, the others wait for the lock and then read."""
import fcntl
import os
import time

import kit4


def open_cache(rank):
    with open("cache.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists("cache.idx"):
            with open("cache.tmp", "w") as f:
                end = time.time() + 68
                while time.time() < end:
                    f.write("%r\n" % kit4.compute(0.3))
            os.rename("cache.tmp", "cache.idx")
    return open("cache.idx").readline()


def train(rank, world, port):
    open_cache(rank)
    hub = kit4.Hub(rank, world, port)
    for i in range(12):
        kit4.crunch(0.2)
        hub.reduce(1)
        if rank == 0:
            print("step", i, flush=True)


print("building the cache, this may take a while", flush=True)
kit4.main(4, train)
