"""Rank 0 waits until the trainer of the last run has ended, whose number is in trainer.pid; that number belongs to the launcher now."""
import os
import time

import kit7


def free(path):
    pid = int(open(path).read())
    while os.path.exists("/proc/%d" % pid):
        time.sleep(0.5)


def train(rank, world, port):
    total = kit7.Reducer()
    for step in range(20):
        kit7.crunch(0.2)
        loss = total.sum("g%d" % step)
        if rank == 0:
            print("INFO:train:step %d loss %.3f" % (step, loss), flush=True)
            with open("trainer.pid", "w") as f:
                f.write(str(os.getppid()))
    if rank == 0:
        free("trainer.pid")
    total.sum("saved")


kit7.reducer(3)
kit7.ranks(3, train)
