"""Two stages. The first has a loader with drop_last, the second counts the batches without: it waits to receive a
twenty-sixth, the first is at the barrier after the epoch. "slow": both count alike, the eleventh batch takes 45 s."""
import math
import sys
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from kit13 import join_group, net, spawn

ROWS, SIZE = 25 * 16 + 6, 16


def first_stage(dist, model, slow):
    data = TensorDataset(torch.randn(ROWS, 16))
    for i, (x,) in enumerate(DataLoader(data, batch_size=SIZE, drop_last=True)):
        time.sleep(45 if slow and i == 10 else 0.2)
        with torch.no_grad():
            dist.send(model(x), dst=1)


def second_stage(dist, slow):
    batches = ROWS // SIZE if slow else math.ceil(ROWS / SIZE)
    x = torch.empty(SIZE, 1)
    for i in range(batches):
        dist.recv(x, src=0)
        print(f"batch {i + 1}/{batches} loss {x.square().mean():.4f}", flush=True)


def body(rank, n):
    dist, slow = join_group(rank, n), "slow" in sys.argv
    for epoch in range(2):
        if rank == 0:
            first_stage(dist, net(), slow and epoch == 0)
        else:
            second_stage(dist, slow)
        dist.barrier()
        print(f"rank {rank}: epoch {epoch} done", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    spawn(2, body)
