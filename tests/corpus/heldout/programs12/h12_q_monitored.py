"""Rank 2 sorts its buckets anew after an epoch, for 52 s; the others are at a monitored barrier."""
import datetime
import time

import numpy

from kit12 import batch, join_group, torchrun, train_step, trainer


def rebucket(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        lengths = numpy.random.randint(1, 512, 20000)
        numpy.argsort(lengths)
        time.sleep(0.02)


def body(rank, n):
    dist = join_group(rank, n)
    model, optimizer = trainer()
    for epoch in range(2):
        for step in range(30):
            loss = train_step(model, optimizer, *batch())
        print(f"rank {rank} epoch {epoch} loss {loss:.4f}", flush=True)
        rebucket(52 if rank == 2 and epoch == 0 else 0.2)
        dist.monitored_barrier(timeout=datetime.timedelta(minutes=30))
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(4, body)
