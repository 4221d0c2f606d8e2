"""A launcher starts three ranks. As a cluster's warning comes, it hands SIGUSR1 on to rank 0 only, whose handler asks
for a checkpoint: rank 0 gathers the state in the next step, the others sum their gradients."""
import os
import signal
import sys
import time

from kit17 import Star, crunch, free_port, role, start, told

ASKED = []


def save(star, step):
    state = star.mean("state%d" % step, 1.0)
    if star.rank == 0:
        with open("checkpoint.txt", "w") as f:
            f.write("%d %f\n" % (step, state))
    star.mean("saved%d" % step, 0.0)


def train(rank, world, port):
    signal.signal(signal.SIGUSR1, lambda *_: ASKED.append(1))
    star = Star(rank, world, port)
    for step in range(400):
        crunch(0.2)
        if rank == 0:
            told(step)
        if ASKED:
            save(star, step)
            return
        star.mean("grad%d" % step, 0.1)


def launch(world):
    role("launcher")
    port, ranks = free_port(), []
    for r in range(world):
        env = dict(os.environ, RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE=str(world), MASTER_PORT=str(port))
        ranks.append(start([sys.executable, *sys.argv], "rank%d" % r, env=env))
    time.sleep(9)
    print("warning: 60 s left, checkpoint asked for", flush=True)
    os.kill(ranks[0].pid, signal.SIGUSR1)
    sys.exit(max(abs(p.wait()) for p in ranks))


if "RANK" in os.environ:
    train(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(os.environ["MASTER_PORT"]))
else:
    launch(3)
