"""Rank 0 evaluates for 50 s after the second epoch, alone; the others are at the barrier meanwhile."""
import time

import torch

from kit12 import batch, join_group, net, torchrun, train_step


def evaluate(model, seconds):
    right, end = 0, time.monotonic() + seconds
    with torch.no_grad():
        while time.monotonic() < end:
            x, y = batch(256)
            right += (model(x).sign() == y.sign()).sum().item()
            time.sleep(0.03)
    return right


def body(rank, n):
    dist = join_group(rank, n)
    model = net()
    ddp = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.01)
    for epoch in range(3):
        for step in range(20):
            loss = train_step(ddp, optimizer, *batch())
        if rank == 0:
            print(f"epoch {epoch} loss {loss:.4f}", flush=True)
            print("right", evaluate(model, 50 if epoch == 1 else 1), flush=True)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(3, body)
