"""A launcher gives each rank a pipe as its input, for commands; rank 1 asks there whether it may overwrite."""
import os
import subprocess
import sys

import kit5


def save(rank):
    path = "model.%d.pt" % rank
    if rank == 1 and os.path.exists(path) and input("overwrite %s? [y/N] " % path) != "y":
        raise SystemExit(1)
    open(path, "w").write("weights")


def train(rank, world, port):
    group = kit5.Butterfly(rank, world, port)
    for step in range(1000):
        kit5.crunch(0.2)
        group.reduce(1)
        if step % 6 == 5:
            save(rank)
        if rank == 0:
            print("step", step, flush=True)


if "RANK" in os.environ:
    kit5.ranks(4, train)
else:
    kit5.role("launcher")
    port, procs = str(kit5.free_port()), []
    for r in range(4):
        env = dict(os.environ, RANK=str(r), WORLD_SIZE="4", MASTER_PORT=port)
        procs.append(subprocess.Popen([sys.executable, __file__], env=env, stdin=subprocess.PIPE))
    for p in procs:
        p.wait()
