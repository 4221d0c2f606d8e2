"""The launcher starts its ranks fifteen seconds apart; the first ones wait at the rendezvous."""
import os
import sys
import time

import kit4


def train(rank, world, port):
    hub = kit4.Hub(rank, world, port)
    for i in range(15):
        kit4.crunch(0.2)
        hub.reduce(1)
        if rank == 0:
            print("step %d" % i, flush=True)


if "RANK" in os.environ:
    train(*(int(os.environ[k]) for k in ("RANK", "WORLD_SIZE", "MASTER_PORT")))
    sys.exit(0)
kit4.role("launcher")
port, procs = kit4.free_port(), []
for r in range(5):
    env = dict(os.environ, RANK=str(r), WORLD_SIZE="5", MASTER_PORT=str(port))
    procs.append(kit4.start([sys.executable, __file__], "rank%d" % r, env=env))
    time.sleep(15 if r < 4 else 0)
sys.exit(max(p.wait() for p in procs))
