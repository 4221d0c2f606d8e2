"""Two stages exchange their activations by send and recv, the first of a pair sends first. At the swap of their
weights both send first."""
import torch

from kit12 import join_group, spawn


def swap(dist, rank, mine):
    theirs = torch.empty_like(mine)
    dist.send(mine, 1 - rank)
    dist.recv(theirs, 1 - rank)
    return theirs


def forward_backward(dist, rank, x):
    if rank == 0:
        dist.send(x, 1)
        dist.recv(x, 1)
    else:
        dist.recv(x, 0)
        dist.send(x * 0.99, 0)
    return x


def body(rank, n):
    import time
    dist = join_group(rank, n)
    x, weights = torch.ones(256), torch.randn(2000, 1000)
    for step in range(40):
        time.sleep(0.2)
        x = forward_backward(dist, rank, x)
        if rank == 0 and step % 5 == 0:
            print(f"step {step} |x| {x.norm():.3f}", flush=True)
        if step == 30:
            weights = swap(dist, rank, weights)
    dist.destroy_process_group()


if __name__ == "__main__":
    spawn(2, body)
