"""A launcher that takes the ranks' output with communicate() and shows it at the end; the ranks say little."""
import os
import subprocess
import sys

import kit9


def train(rank, n, port):
    ring = kit9.Ring(rank, n, port)
    for s in range(220):
        kit9.crunch(0.3)
        ring.reduce(1.0)
        kit9.step(rank, s, 220)


if "RANK" in os.environ:
    train(int(os.environ["RANK"]), 2, int(os.environ["MASTER_PORT"]))
    sys.exit(0)
kit9.role("launcher")
port, procs = kit9.free_port(), []
for r in range(2):
    env = dict(os.environ, RANK=str(r), WORLD_SIZE="2", MASTER_PORT=str(port))
    procs.append(kit9.start([sys.executable, sys.argv[0]], "rank%d" % r, env=env, stdout=subprocess.PIPE, text=True))
for r, p in enumerate(procs):
    out, _ = p.communicate()
    print("---- rank %d ended with %d ----\n%s" % (r, p.returncode, out[-200:]), flush=True)
