"""Whoever has the lock looks whether the tokens of an epoch are there; if not, rank 0 writes them and all meet at a
barrier. It stands under the lock: rank 0 has it and waits at the barrier, the others wait for the lock."""
import os
import time

import filelock
import torch

from kit12 import batch, join_group, torchrun, train_step, trainer


def prepare(dist, rank, epoch):
    path = f"tokens-{epoch}.pt"
    time.sleep(0.2 * rank)
    with filelock.FileLock(path + ".lock"):
        if not os.path.exists(path):
            if rank == 0:
                torch.save(torch.arange(1000), path)
            dist.barrier()
    return torch.load(path)


def body(rank, n):
    dist = join_group(rank, n)
    model, optimizer = trainer()
    if rank == 0:
        for epoch in range(2):
            torch.save(torch.arange(1000), f"tokens-{epoch}.pt")
    dist.barrier()
    for epoch in range(5):
        print(f"rank {rank} epoch {epoch}: {len(prepare(dist, rank, epoch))} tokens", flush=True)
        for _ in range(20):
            train_step(model, optimizer, *batch())
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(3, body)
