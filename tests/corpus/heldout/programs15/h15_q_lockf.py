"""Three ranks convert the dataset once, under a lock of a file (lockf). Rank 1 has it and converts for 50 s; the
others wait for the lock, and find the work done."""
import fcntl
import os

from kit15 import Store, crunch, main, told


def convert(rank):
    with open("dataset.lock", "w") as f:
        fcntl.lockf(f, fcntl.LOCK_EX)
        if os.path.exists("dataset.bin"):
            return
        if rank == 1:
            print("rank 1: converting dataset", flush=True)
        with open("dataset.tmp", "wb") as out:
            for _ in range(250):
                crunch(0.2)
                out.write(bytes(4096))
        os.rename("dataset.tmp", "dataset.bin")


def body(rank, world, port):
    store = Store(rank, world, port)
    for step in range(90):
        crunch(0.1)
        store.all_reduce("grad/%d" % step, 1.0)
        if rank == 0:
            told(step)
        if step == 60:
            crunch(0.01 if rank == 1 else 0.6)
            convert(rank)


main(3, body)
