"""A launcher of its own starts two ranks with pipes for their output, and passes on the lines of rank 0; those of rank 1 it would
read at the end. Rank 1 warns a lot from step 20 on, until its pipe is full: it waits in `write`, rank 0 for rank 1, and the
launcher for rank 0's next line.

slow: the launcher throws away what rank 1 says; rank 1 works for 48 s at a step."""
import os
import subprocess
import sys

from kit22 import SLOW, STEPS, Mesh, Model, busy, free_port, role, start


def warn(step):
    for k in range(40):
        print("warning: token indices sequence length is longer than the maximum for this model (%d > 512), row %d" %
              (513 + step, k), flush=True)


def body(rank, world, port):
    mesh, model = Mesh(rank, world, port), Model(rank)
    for step in range(STEPS):
        if rank == 1 and step >= 20:
            warn(step)
        if SLOW and rank == 1 and step == 30:
            busy(48)
        model.apply(mesh.all_reduce("gradient %d" % step, model.gradient(model.batch())))
        if rank == 0:
            model.told(step)


def pass_on(ranks):
    for line in ranks[0].stdout:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    for rank in ranks[1:]:
        print(rank.communicate()[0][-200:])


def launch():
    role("launcher")
    port, ranks = free_port(), []
    for rank in range(2):
        env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        out = subprocess.DEVNULL if SLOW and rank else subprocess.PIPE
        ranks.append(start([sys.executable] + sys.argv, "rank%d" % rank, env=env, stdout=out))
    pass_on(ranks[:1] if SLOW else ranks)
    sys.exit(max(p.wait() for p in ranks))


if "RANK" in os.environ:
    body(int(os.environ["RANK"]), 2, int(os.environ["MASTER_PORT"]))
else:
    launch()
