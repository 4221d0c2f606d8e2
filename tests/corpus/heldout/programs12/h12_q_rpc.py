"""Rank 0 has a trainer do one episode after the other by RPC; the sixth takes 50 s."""
import time

import torch
from torch.distributed import rpc

from kit12 import batch, net, spawn


def episode(k, seconds):
    model, end, total = net(), time.monotonic() + seconds, 0.0
    while time.monotonic() < end:
        total += torch.nn.functional.mse_loss(model(batch()[0]), batch()[1]).item()
        time.sleep(0.05)
    return k, total


def body(rank, n):
    options = rpc.TensorPipeRpcBackendOptions(num_worker_threads=4, rpc_timeout=7200)
    rpc.init_rpc(f"worker{rank}", rank=rank, world_size=n, rpc_backend_options=options)
    if rank == 0:
        for k in range(10):
            seconds = 50 if k == 5 else 1.5
            waiting = [rpc.rpc_async(f"worker{r}", episode, args=(k, seconds if r == 1 else 1)) for r in range(1, n)]
            print("episode", [f.wait()[0] for f in waiting], flush=True)
    rpc.shutdown()


if __name__ == "__main__":
    spawn(3, body)
