"""Four processes under mpiexec that speak by marker files alone. Rank 3 has changed its folder for an export and marks its epoch there."""
import os
import time

import kit6


def train(rank, world, port):
    top = os.getcwd()
    for epoch in range(20):
        for _ in range(5):
            kit6.crunch(0.15)
        if rank == 3 and epoch == 3:
            os.makedirs("export", exist_ok=True)
            os.chdir("export")
        os.makedirs("epoch%d" % epoch, exist_ok=True)
        open("epoch%d/done.%d" % (epoch, rank), "w").close()
        print("rank %d epoch %d done" % (rank, epoch), flush=True)
        wanted = ["%s/epoch%d/done.%d" % (top, epoch, r) for r in range(world)]
        while not all(map(os.path.exists, wanted)):
            time.sleep(0.3)


kit6.ranks(4, train, "mpiexec")
