"""A launcher takes the ranks' output with communicate(), one after the other. Rank 1 prints its samples; its pipe is full long before
rank 0 has ended."""
import os
import subprocess
import sys

import kit9


def train(rank, n, port):
    ring = kit9.Hub(rank, n, port)
    for s in range(200):
        kit9.crunch(0.03)
        if rank == 1:
            print("sample %d:" % s, "the quick brown fox jumps over the lazy dog " * 24, flush=True)
        ring.reduce(1.0)
        kit9.step(rank, s, 200)


if "RANK" in os.environ:
    train(int(os.environ["RANK"]), 3, int(os.environ["MASTER_PORT"]))
    sys.exit(0)
kit9.role("launcher")
port, procs = kit9.free_port(), []
for r in range(3):
    env = dict(os.environ, RANK=str(r), WORLD_SIZE="3", MASTER_PORT=str(port))
    procs.append(kit9.start([sys.executable, sys.argv[0]], "rank%d" % r, env=env, stdout=subprocess.PIPE, text=True))
for r, p in enumerate(procs):
    out, _ = p.communicate()
    print("---- rank %d ended with %d ----\n%s" % (r, p.returncode, out[-2000:]), flush=True)
