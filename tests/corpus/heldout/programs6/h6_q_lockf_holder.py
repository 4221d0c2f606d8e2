"""Two ranks tokenize under one record lock: rank 1 waits 65 s for rank 0, which writes its part of the cache meanwhile."""
import fcntl
import time

import kit6


def prepare(rank, world, port):
    for n in range(10):
        kit6.crunch(0.2)
        print("rank", rank, "read file", n, flush=True)
    if rank:
        time.sleep(1)
    with open("cache.bin", "a+b") as f:
        fcntl.lockf(f, fcntl.LOCK_EX)
        end = time.time() + 65
        while rank == 0 and time.time() < end:
            kit6.compute(0.5)
            f.write(b"tokens" * 100)
    for n in range(10):
        kit6.crunch(0.2)
        print("rank", rank, "step", n, flush=True)


kit6.ranks(2, prepare)
