"""Real jobs of today's PyTorch on gloo: torch_modern.py HOW WHAT [--culprit R]

HOW is what makes the gradients one: by hand, DDP or FSDP. WHAT happens to the rank R at step 20 (--at-step), or before it
joins the others (missing, late). The healthy ones (nap, evaluates, saves, downloads, compiles, late with a short --pause)
hold the others up for a while and go on.
"""
import argparse
import datetime
import http.server
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

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


def evaluate(model, pause):
    end = time.monotonic() + pause
    with torch.no_grad():
        while time.monotonic() < end:
            torch.randn(256, 256) @ torch.randn(256, 256)


def save_checkpoint(pause):
    """To a slow disk: a piece each tenth of a second."""
    end = time.monotonic() + pause
    with tempfile.TemporaryFile() as f:
        while time.monotonic() < end:
            f.write(b"w" * 65536)
            f.flush()
            time.sleep(0.1)


class Drip(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        end = time.monotonic() + float(self.path[1:])
        self.send_response(200)
        self.end_headers()
        while time.monotonic() < end:
            self.wfile.write(b"d" * 8192)
            time.sleep(0.2)

    def log_message(self, *args):
        pass


def download(pause):
    """From a slow server, which is another process."""
    listener = http.server.HTTPServer(("127.0.0.1", 0), Drip)
    if os.fork() == 0:
        listener.handle_request()
        os._exit(0)
    port = listener.server_port
    listener.server_close()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{pause}") as got:
        while got.read(4096):
            pass
    os.wait()


def compile_step(pause):
    """What torch.compile does: compilers in other processes, for which the rank waits."""
    script = f"import time; e = time.monotonic() + {pause}\nwhile time.monotonic() < e: pass"
    subprocess.run([sys.executable, "-c", script], check=True)


def ask_for_a_key(mine, culprit, pause):
    store = dist.distributed_c10d._get_default_store()
    if mine:
        time.sleep(pause)
        store.set(f"shard/{culprit}", b"1")
    else:
        store.wait([f"shard/{culprit}"], datetime.timedelta(seconds=1800))


def exchange_in_vain(rank, culprit):
    """The culprit sends to the next rank, which wants another message of it."""
    other = (culprit + 1) % dist.get_world_size()
    if rank == culprit:
        dist.send(torch.ones(4), other, tag=5)
    elif rank == other:
        dist.recv(torch.ones(4), culprit, tag=6)


def part(rank, culprit):
    """Each of three ranks makes another call: the culprit sends to the next one, which is in a barrier instead."""
    if rank == culprit:
        dist.send(torch.ones(4), (culprit + 1) % dist.get_world_size())
    elif rank == (culprit + 1) % dist.get_world_size():
        dist.barrier()


def send_past(rank, culprit):
    """The culprit receives from the next rank, which is in a sum as others are; the one before it sends to it."""
    world = dist.get_world_size()
    if rank == culprit:
        dist.recv(torch.ones(4), (culprit + 1) % world)
    elif rank == (culprit - 1) % world:
        dist.send(torch.ones(4), culprit)


def meet_fate(what, model, pause):
    if what == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif what in ("asleep", "nap"):
        time.sleep(pause)
    elif what == "raises":
        raise RuntimeError("a bad batch")
    elif what == "lock":
        threading.Event().wait()
    elif what == "evaluates":
        evaluate(model, pause)
    elif what == "saves":
        save_checkpoint(pause)
    elif what == "downloads":
        download(pause)
    elif what == "compiles":
        compile_step(pause)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("how", choices=("hand", "ddp", "fsdp"))
    p.add_argument("what", choices=("none", "missing", "late", "stopped", "asleep", "raises", "loader", "key", "lock", "tags", "parts", "past", "group", "nap", "evaluates",
                                     "saves", "downloads", "compiles"))
    p.add_argument("--culprit", type=int, default=1)
    p.add_argument("--steps", type=int, default=2000)
    p.add_argument("--timeout", type=float, default=1800, help="of the group, in seconds")
    p.add_argument("--at-step", type=int, default=20)
    p.add_argument("--pause", type=float, default=100000, help="how long it lasts, in seconds")
    args = p.parse_args()
    torch.set_num_threads(1)
    rank = int(os.environ["RANK"])
    mine = rank == args.culprit
    if args.what == "missing" and mine:
        threading.Event().wait()
    if args.what == "late" and mine:
        time.sleep(args.pause)
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=args.timeout))
    model = wrapped(args.how)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.001)
    data = Numbers(args.steps, stuck_at=args.at_step if args.what == "loader" and mine else None)
    for step, batch in enumerate(DataLoader(data, batch_size=1, num_workers=1 if args.what in ("loader", "none") else 0)):
        if step == args.at_step and args.what == "key":
            ask_for_a_key(mine, args.culprit, args.pause)
        elif step == args.at_step and args.what == "tags":
            exchange_in_vain(rank, args.culprit)
        elif step == args.at_step and args.what == "parts":
            part(rank, args.culprit)
        elif step == args.at_step and args.what == "past":
            send_past(rank, args.culprit)
        elif step == args.at_step and args.what == "group":
            if not mine:
                dist.new_group()
        elif step == args.at_step and mine:
            meet_fate(args.what, model, args.pause)
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
