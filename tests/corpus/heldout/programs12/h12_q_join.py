"""Uneven inputs, under join(): rank 0 has used up its own and answers the collectives of rank 1, which has a long
step of 50 s before its last ones."""
import time

import torch
from torch.distributed.algorithms.join import Join

from kit12 import batch, join_group, net, torchrun, train_step


def body(rank, n):
    dist = join_group(rank, n)
    ddp = torch.nn.parallel.DistributedDataParallel(net())
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.01)
    with Join([ddp]):
        for i in range(30 + 15 * rank):
            if i == 35:
                time.sleep(50)
            loss = train_step(ddp, optimizer, *batch())
            if i % 5 == 0:
                print(f"rank {rank} batch {i} loss {loss:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(2, body)
