"""A barrier of files: each of three ranks writes sync/EPOCH.RANK and waits until all are there. Rank 0 clears the
folder "for the next time" when it comes by, which is late once, and takes rank 2's file of the next time with
it: rank 2 has written it already. All look for files for ever."""
import os
import time

from kit15 import crunch, main, told


def barrier(rank, world, epoch):
    os.makedirs("sync", exist_ok=True)
    open("sync/%d.%d" % (epoch, rank), "w").close()
    while not all(os.path.exists("sync/%d.%d" % (epoch, r)) for r in range(world)):
        time.sleep(0.05)
    time.sleep(0.5)
    if rank == 0:
        if epoch == 2:
            crunch(1.5)
        for name in os.listdir("sync"):
            os.unlink("sync/" + name)
    elif epoch != 2 or rank != 2:
        time.sleep(0.7)


def body(rank, world, port):
    for step in range(200):
        crunch(0.12 if (rank, step // 25) != (2, 3) else 0.001)
        if rank == 0:
            told(step)
        if step % 25 == 24:
            barrier(rank, world, step // 25)


main(3, body)
