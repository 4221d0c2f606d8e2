"""Rank 2 writes its profile into a FIFO that a viewer was to read."""
import os

import kit4


def train(rank, world, port):
    hub = kit4.Hub(rank, world, port)
    for i in range(100):
        kit4.crunch(0.25)
        hub.reduce(1)
        if rank == 0:
            print("it %d" % i, flush=True)
        if i == 12 and rank == 2:
            os.mkfifo("profile.fifo")
            with open("profile.fifo", "w") as f:
                f.write("profile of %d\n" % rank)


kit4.main(4, train, "arg")
