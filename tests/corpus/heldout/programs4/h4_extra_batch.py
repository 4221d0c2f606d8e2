"""Drop-last was forgotten on one rank; the end of the epoch is a file for each rank."""
import os
import time

import kit4


def epoch_barrier(rank, world):
    open("done.%d" % rank, "w").close()
    while len([f for f in os.listdir(".") if f.startswith("done.")]) < world:
        time.sleep(0.1)


def train(rank, world, port):
    hub = kit4.Hub(rank, world, port)
    batches = 13 if rank == 1 else 12
    for i in range(batches):
        kit4.crunch(0.3)
        g = hub.reduce(0.01)
        if rank == 0:
            print("batch %d/%d grad %.2f" % (i + 1, batches, g), flush=True)
    epoch_barrier(rank, world)
    print("epoch done")


kit4.main(4, train)
