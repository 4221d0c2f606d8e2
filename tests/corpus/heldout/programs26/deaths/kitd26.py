"""Helpers of the twenty-sixth set's deaths: steps that are told, and ranks of PyTorch that a launcher has started."""
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from kit26 import batches, fit, net, own_ray, role, say, sgd, torchrun  # noqa: E402,F401

RANK, WORLD = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


def train(model, n=15, first=0):
    optimizer = sgd(model)
    for step, (x, y) in enumerate(batches(n, first, pause=0.05), first):
        loss = fit(model, optimizer, x, y)
        if RANK == 0 and step % 5 == 0:
            say("step %d loss %.4f" % (step, loss))


def ranks():
    """Ranks of a launcher that is not torchrun."""
    import torch
    import torch.distributed as dist
    role("rank%d" % RANK)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    return dist
