"""Ranks 0 and 1 make a group for the evaluation, which every rank of the job has to make; rank 2, no member, goes on
to the next step. The job has PyTorch wait until all have made a group, as it once did by itself."""
import os

import torch

from kit12 import batch, join_group, torchrun, train_step, trainer


def evaluation_group(dist):
    return dist.new_group([0, 1])


def body(rank, n):
    dist = join_group(rank, n)
    model, optimizer = trainer()
    for step in range(25):
        loss = train_step(model, optimizer, *batch())
    print(f"[{rank}] warm, loss {loss:.4f}", flush=True)
    if rank in (0, 1):
        group = evaluation_group(dist)
        total = torch.tensor([loss])
        dist.all_reduce(total, group=group)
    for step in range(25, 60):
        train_step(model, optimizer, *batch())
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ["TORCH_DIST_INIT_BARRIER"] = "1"
    torchrun(3, body)
