"""Real jobs of today's PyTorch on gloo: torch_modern.py HOW WHAT [--culprit R]

HOW is what makes the gradients one: by hand, DDP or FSDP. WHAT happens to the rank R at step 20.
"""
import argparse
import datetime
import os
import signal
import threading
import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

AT_STEP = 20


class Numbers(Dataset):
    def __init__(self, n, stuck_at=None):
        self.n, self.stuck_at = n, stuck_at

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i == self.stuck_at:
            os.kill(os.getpid(), signal.SIGSTOP)
        return torch.full((8,), float(i))


def wrapped(how):
    model = torch.nn.Linear(8, 8)
    if how == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model)
    if how == "fsdp":
        from torch.distributed.fsdp import fully_shard
        from torch.distributed.device_mesh import init_device_mesh
        fully_shard(model, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
    return model


def meet_fate(what):
    if what == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif what == "asleep":
        time.sleep(100000)
    elif what == "raises":
        raise RuntimeError("a bad batch")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("how", choices=("hand", "ddp", "fsdp"))
    p.add_argument("what", choices=("none", "missing", "stopped", "asleep", "raises", "loader"))
    p.add_argument("--culprit", type=int, default=1)
    p.add_argument("--steps", type=int, default=2000)
    p.add_argument("--timeout", type=float, default=1800, help="of the group, in seconds")
    args = p.parse_args()
    torch.set_num_threads(1)
    rank = int(os.environ["RANK"])
    mine = rank == args.culprit
    if args.what == "missing" and mine:
        threading.Event().wait()
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=args.timeout))
    model = wrapped(args.how)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.001)
    data = Numbers(args.steps, stuck_at=AT_STEP if args.what == "loader" and mine else None)
    for step, batch in enumerate(DataLoader(data, batch_size=1, num_workers=1 if args.what in ("loader", "none") else 0)):
        if mine and step == AT_STEP:
            meet_fate(args.what)
        optimiser.zero_grad()
        model(batch).square().mean().backward()
        if args.how == "hand":
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
        optimiser.step()
        print(f"step {step}/{args.steps}", flush=True)
        time.sleep(0.05)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
