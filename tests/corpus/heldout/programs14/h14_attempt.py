"""Ranks agree on the next stage by keys that begin with the number of the attempt, so that those of an
earlier try are not taken. Rank 3 was started with another number than the others."""
import os

from kit14 import Store, crunch, main, told


class Stages:
    def __init__(self, store):
        self.store, self.attempt = store, int(os.environ.get("RESTART_COUNT", "0"))

    def enter(self, name):
        print("[rank %d] attempt %d enters %s" % (self.store.rank, self.attempt, name), flush=True)
        self.store.barrier("attempt_%d/%s" % (self.attempt, name))


def body(rank, world, port):
    if rank == 3:
        os.environ["RESTART_COUNT"] = "1"
    store = Store(rank, world, port)
    stages = Stages(store)
    for step in range(60):
        crunch(0.15)
        store.all_reduce("warmup/%d" % step, 1)
        if rank == 0:
            told(step)
    stages.enter("finetune")
    for step in range(60, 90):
        crunch(0.15)
        store.all_reduce("finetune/%d" % step, 1)


main(4, body)
