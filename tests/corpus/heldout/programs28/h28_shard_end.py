"""Rank 1's loader is a process that writes batches into files and a counter into shared memory; rank 1 polls the counter. At the
end of its shards the loader ends well, and the last, smaller shard of rank 1 has fewer batches than rank 0's.

slow: the loader reads a slow shard for 64 s."""
import mmap
import struct
import sys
import time

from kit28 import SLOW, STALL, STEPS, Star, compute, main, part, tell


def shared():
    f = open("counter", "r+b")
    return mmap.mmap(f.fileno(), 16)


def loader():
    shelf = shared()
    for k in range(1, STALL + 1 if not SLOW else STEPS + 1):
        while struct.unpack_from("q", shelf, 8)[0] < k - 8:
            time.sleep(0.02)
        if SLOW and k == STALL:
            time.sleep(64)
        struct.pack_into("q", shelf, 0, k)


def next_batch(shelf, k):
    while struct.unpack_from("q", shelf, 0)[0] <= k:
        time.sleep(0.01)
    struct.pack_into("q", shelf, 8, k)


def body(rank, world, port):
    star = Star(rank, world)
    if rank == 1:
        with open("counter", "wb") as f:
            f.write(b"\0" * 16)
        part("loader")
        shelf = shared()
    for step in range(STEPS):
        if rank == 1:
            next_batch(shelf, step)
        compute()
        star.mean("grad/%d" % step, 0.5)
        if rank == 0:
            tell(step, "it")


if "loader" in sys.argv:
    loader()
else:
    main(2, body)
