"""Real torch.distributed jobs on gloo that hang: torch_hang.py WHAT [--culprit R]"""
import argparse
import datetime
import os
import socket
import threading
import time

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch.distributed.elastic.multiprocessing.errors import record
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __init__(self, n, stuck_at=None):
        self.n, self.stuck_at = n, stuck_at

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i == self.stuck_at:
            lock = threading.Lock()
            lock.acquire()
            lock.acquire()
        return torch.tensor([float(i)])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=("mismatch", "missing", "uneven", "loader", "exception", "error", "none"))
    p.add_argument("--culprit", type=int, default=1)
    p.add_argument("--steps", type=int, default=60)
    p.add_argument("--timeout", type=float, default=1800, help="of the group, in seconds")
    p.add_argument("--spawn", type=int, help="start so many ranks by torch.multiprocessing")
    args = p.parse_args()
    if args.spawn:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()), WORLD_SIZE=str(args.spawn))
        torch.multiprocessing.spawn(spawned, args=(args,), nprocs=args.spawn)
    else:
        run(args)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def spawned(number, args):
    os.environ["RANK"] = str(number)
    run(args)


@record
def run(args):
    rank = int(os.environ["RANK"])
    mine = rank == args.culprit
    if args.what == "missing" and mine:
        threading.Event().wait()
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=args.timeout))
    n = args.steps - 20 if args.what == "uneven" and mine else args.steps
    data = Numbers(n, stuck_at=30 if args.what == "loader" and mine else None)
    step = 0
    for batch in DataLoader(data, num_workers=1 if args.what == "loader" else 0):
        step += 1
        if args.what == "mismatch" and mine and step == 30:
            dist.barrier()
        if args.what == "exception" and mine and step == 30:
            threading.Thread(target=threading.Event().wait).start()
            raise RuntimeError("a bad batch")
        if args.what == "error" and mine and step == 30:
            raise RuntimeError("a bad batch")
        dist.all_reduce(batch)
        print(f"step {step}/{n}", flush=True)
        time.sleep(0.1)
    dist.barrier()


if __name__ == "__main__":
    main()
