"""Two ranks. Rank 0 fetches a tokenizer's files into a cache under a lock file that names its maker; a run that was killed
yesterday has left one. Rank 1 waits for rank 0 at a barrier.

slow: the lock is that of a prefetching process, which loads for 65 s and takes it away."""
import os
import sys
import time

from kit28 import SLOW, STALL, STEPS, Star, compute, main, part, tell

LOCK = os.path.abspath("models--tok.lock")


def prefetch():
    with open(LOCK, "w") as f:
        f.write(str(os.getpid()))
    for _ in range(65):
        with open("blob.incomplete", "ab") as f:
            f.write(b"b" * 32768)
        time.sleep(1)
    os.unlink(LOCK)


def cached_file():
    while True:
        try:
            os.close(os.open(LOCK, os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            time.sleep(0.5)
    os.unlink(LOCK)


def body(rank, world, port):
    star = Star(rank, world)
    for step in range(STEPS):
        compute()
        star.mean("grad/%d" % step, 0.5)
        if rank == 0:
            tell(step, "epoch")
            if step == STALL:
                if SLOW:
                    part("prefetch")
                    time.sleep(1)
                else:
                    with open(LOCK, "w") as f:
                        f.write("4190001")
                cached_file()


if "prefetch" in sys.argv:
    prefetch()
else:
    main(2, body)
