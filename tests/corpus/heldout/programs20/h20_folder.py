"""Two ranks. The folder of a run has the time of its beginning as its name, which each rank takes from its own clock;
rank 1 had more to import. At step 40 rank 0 writes its weights, and rank 1 waits for them in a folder that is its alone.

slow: one name for both, and rank 0 takes 48 s to write."""
import os
import time

from kit20 import SLOW, STEPS, Table, busy, crunch, main, once, told


def restore(folder, step):
    path = "%s/step%d.pt" % (folder, step)
    while not os.path.exists(path):
        time.sleep(0.2)


def save(folder, step):
    busy(48 if SLOW else 0)
    once("%s/step%d.pt" % (folder, step))


def body(rank, world, port):
    if rank == 1:
        time.sleep(1.5)
    folder = "run" if SLOW else time.strftime("run-%Y%m%d-%H%M%S")
    os.makedirs(folder, exist_ok=True)
    table = Table(rank, world)
    for step in range(STEPS):
        crunch(0.2)
        table.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)
        if step == 40:
            (restore if rank else save)(folder, step)


main(2, body)
