"""Rank 0 saves to a slow store, which takes 50 s for a checkpoint; the others want to know its name, which rank 0
sends when it is written."""
import io
import os
import time

import torch

from kit12 import batch, join_group, net, torchrun, train_step, trainer


class SlowStore(io.FileIO):
    """Takes a megabyte in five seconds."""

    def write(self, data):
        for at in range(0, len(data), 1 << 17):
            time.sleep(0.625 * len(data[at:at + (1 << 17)]) / (1 << 17))
            super().write(data[at:at + (1 << 17)])
            os.fsync(self.fileno())
        return len(data)


def save(dist, rank, step):
    name = [None]
    if rank == 0:
        name = [f"step{step}.pt"]
        with SlowStore(name[0], "wb") as f:
            torch.save(torch.zeros(2_600_000), f)
    dist.broadcast_object_list(name, src=0)
    return name[0]


def body(rank, n):
    dist = join_group(rank, n)
    model, optimizer = trainer(net(32))
    for step in range(1, 61):
        train_step(model, optimizer, *batch())
        if step == 30:
            print(f"rank {rank} saved {save(dist, rank, step)}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(3, body)
