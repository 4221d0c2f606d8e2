"""Rank 0 waits by inotify for tokenizer.json, which a preparing job has written under another name; the job has ended with 0."""
import ctypes
import os
import sys
import time

import kit5

PREPARE = 'import time; time.sleep(2); open("prepared/tokenizer_v2.json", "w").write("{}")'


def wait_for(name):
    libc = ctypes.CDLL(None)
    fd = libc.inotify_init()
    libc.inotify_add_watch(fd, b"prepared", 0x100 | 0x80)
    while not os.path.exists("prepared/" + name):
        os.read(fd, 4096)


def train(rank, world, port):
    mesh = kit5.Mesh(rank, world)
    if rank == 0:
        kit5.start([sys.executable, "-c", PREPARE], "prepare")
        wait_for("tokenizer.json")
    mesh.reduce(1)
    print("rank", rank, "begins", flush=True)


os.makedirs("prepared", exist_ok=True)
if "SLURM_PROCID" not in os.environ:
    print("preparing", flush=True)
    time.sleep(1)
kit5.ranks(4, train, "slurm")
