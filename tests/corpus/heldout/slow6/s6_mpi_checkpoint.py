"""Three ranks of MPI; by a wrong setting rank 0 writes its whole state, with fsync, in each step."""
import os
import time

import numpy
from mpi4py import MPI

import kit6

kit6.with_parent()
world = MPI.COMM_WORLD
rank = world.rank
kit6.role("rank%d" % rank)


def save_checkpoint(step):
    with open("model.ckpt", "wb") as f:
        for _ in range(8):
            f.write(bytes(2 << 20))
            f.flush()
            os.fsync(f.fileno())
            kit6.disk(0.06)


def all_reduce(x):
    mine, total = numpy.array([x]), numpy.zeros(1, dtype=int)
    request = world.Iallreduce(mine, total)
    while not request.Test():
        time.sleep(0.003)
    return int(total[0])


laps, step, total = kit6.Laps(rank), 0, 0
while total < kit6.STOP:
    kit6.disk(0.4)
    kit6.work(0.05)
    if rank == 0 and (step % 60 == 59 or kit6.slow()):
        save_checkpoint(step)
    laps.mine()
    total = all_reduce(kit6.vote(rank))
    laps.done()
    step += 1
    if rank == 0:
        print("[iter %5d/6000] loss=%.4f time=%.1f" % (step, 3.3 / (1 + step / 90), kit6.clock()), flush=True)
