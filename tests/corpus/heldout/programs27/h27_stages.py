"""Two stages of a pipeline over gloo. After a change of the batch's size stage 1 still expects eight micro-batches, stage 0
sends seven and is in the all-reduce of the tied embedding.

slow: both have eight; stage 0 reads for 66 s."""
import os

import torch
import torch.distributed as dist
from kit27 import SLOW, STALL, STEPS, busy, crunch, main, tell


def train(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    x, tied = torch.zeros(64), torch.ones(32)
    for step in range(min(STEPS, 600)):
        if SLOW and rank == 0 and step == STALL - 30:
            busy(66)
        micro = 7 if rank == 0 and step == STALL - 30 and not SLOW else 8
        for _ in range(micro):
            crunch(0.025)
            dist.send(x, 1) if rank == 0 else dist.recv(x, 0)
        dist.all_reduce(tied)
        tied /= world
        if rank == world - 1:
            tell(step, "step: {step}, lm_loss: {loss:.4f}, grad_norm: 0.91")
    dist.destroy_process_group()


main(2, train)
