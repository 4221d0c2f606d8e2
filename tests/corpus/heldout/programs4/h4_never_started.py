"""The launcher's loop ends one too early: WORLD_SIZE says four, three are started."""
import os
import sys

import kit4


def train():
    rank, world, port = (int(os.environ[k]) for k in ("RANK", "WORLD_SIZE", "MASTER_PORT"))
    print("rank %d/%d initialising process group" % (rank, world), flush=True)
    hub = kit4.Hub(rank, world, port)
    for i in range(100):
        kit4.crunch(0.2)
        print(i, hub.reduce(1))


if "RANK" in os.environ:
    train()
kit4.role("launcher")
port, world = kit4.free_port(), 4
procs = []
for r in range(world - 1):
    env = dict(os.environ, RANK=str(r), WORLD_SIZE=str(world), LOCAL_RANK=str(r), MASTER_PORT=str(port))
    procs.append(kit4.start([sys.executable, __file__], "rank%d" % r, env=env))
sys.exit(max(p.wait() for p in procs))
