"""Three ranks over gloo. The samples of an epoch are given out by scatter_object_list; rank 2 was set to give them out itself by
a flag of its own ("is_main" by hostname): it scatters from 2, the others from 0. Nothing is printed."""
import os

import torch
import torch.distributed as dist
from kit27 import STALL, STEPS, crunch, main


def train(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    g = torch.ones(16)
    for step in range(STEPS):
        crunch(0.2)
        dist.all_reduce(g)
        if step % 30 == 0:
            source = 2 if rank == 2 and step == STALL - 30 else 0
            out = [None]
            dist.scatter_object_list(out, [[k] for k in range(world)] if rank == source else None, src=source)


main(3, train)
