"""Each of two ranks has the other push a gradient to it, by RPC, and whoever gets one asks its sender how old it is. A
rank has two threads for requests; at step 30 both do so at once, and all four threads wait for answers."""
import time

import torch
from torch.distributed import rpc

from kit12 import batch, net, spawn

STATE = {"step": 0}


def current_step():
    return STATE["step"]


def take_gradient(sender, step):
    """Runs in the one that gets the gradient."""
    return step - rpc.rpc_sync(sender, current_step)


def push_gradient(me, to, step):
    """Runs in the one that is asked for a gradient."""
    time.sleep(0.5)
    return rpc.rpc_sync(to, take_gradient, args=(me, step))


def body(rank, n):
    options = rpc.TensorPipeRpcBackendOptions(num_worker_threads=2, rpc_timeout=7200)
    rpc.init_rpc(f"trainer{rank}", rank=rank, world_size=n, rpc_backend_options=options)
    model, me, other = net(), f"trainer{rank}", f"trainer{1 - rank}"
    for step in range(60):
        STATE["step"] = step
        time.sleep(0.15)
        torch.nn.functional.mse_loss(model(batch()[0]), batch()[1]).backward()
        if step < 30 and rank == step % 2:
            rpc.rpc_sync(other, current_step)
        elif step >= 30:
            rpc.rpc_sync(other, push_gradient, args=(other, me, step))
        if rank == 0 and step % 5 == 0:
            print("step", step, flush=True)
    rpc.shutdown()


if __name__ == "__main__":
    spawn(2, body)
