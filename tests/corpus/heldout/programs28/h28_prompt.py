"""A launcher gives its two ranks a pipe as stdin. Rank 1 finds a checkpoint with another number of layers and asks whether to
go on without the head; the launcher writes nothing into the pipe, it waits for its ranks.

slow: the launcher is a little dialog that answers after 66 s."""
import os
import subprocess
import sys
import time

from kit28 import OWN, SLOW, STALL, STEPS, Star, compute, role, tell, with_parent


def load_head():
    sys.stderr.write("head.weight: 1000 classes in the checkpoint, 21 here. Reinitialize? [y/n] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip() == "y"


def work():
    rank = int(os.environ["RANK"])
    star = Star(rank, 2)
    for step in range(STEPS):
        compute()
        if rank == 1 and step == STALL:
            load_head()
        star.mean("grad/%d" % step, 0.5)
        if rank == 0:
            tell(step)


if "work" in sys.argv:
    work()
else:
    role("launcher")
    ranks = []
    for r in range(2):
        ranks.append(subprocess.Popen(OWN + ["work"] + sys.argv[1:], stdin=subprocess.PIPE, preexec_fn=with_parent,
                                      env=dict(os.environ, RANK=str(r), WORLD_SIZE="2")))
        role("rank%d" % r, ranks[-1].pid)
    if SLOW:
        time.sleep(23 + 66)
        ranks[1].stdin.write(b"y\n")
        ranks[1].stdin.flush()
    for p in ranks:
        p.wait()
    sys.exit(max(p.returncode for p in ranks))
