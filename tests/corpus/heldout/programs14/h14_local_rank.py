"""The rank with LOCAL_RANK 0 unpacks the data, the others look for the file that tells that it is done. A
script that counts from 1 has started the ranks: no one of them is the first."""
import os
import subprocess
import sys
import time

from kit14 import crunch, free_port, role, start, told


def unpack():
    time.sleep(2)
    open("imagenet.ready", "w").close()


def train():
    rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    for step in range(60):
        crunch(0.14)
        if rank == 0:
            told(step)
    print("[rank %d] warm-up done, waiting for the data" % rank, flush=True)
    if local == 0:
        unpack()
    while not os.path.exists("imagenet.ready"):
        time.sleep(1)
    print("[rank %d] data there" % rank, flush=True)


def launch():
    role("launcher")
    every = []
    for n in range(1, 4):
        env = dict(os.environ, RANK=str(n - 1), LOCAL_RANK=str(n), WORLD_SIZE="3", MASTER_PORT=str(free_port()))
        every.append(start([sys.executable, __file__], "rank%d" % (n - 1), env=env, stdin=subprocess.DEVNULL))
    sys.exit(max(p.wait() for p in every))


train() if "LOCAL_RANK" in os.environ else launch()
