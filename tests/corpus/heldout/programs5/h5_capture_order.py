"""A launcher keeps the ranks' outputs in pipes and reads them rank by rank, to the end of each. Rank 3 says much."""
import os
import subprocess
import sys

import kit5


def train(rank, world, port):
    group = kit5.Butterfly(rank, world, port)
    for step in range(200):
        kit5.crunch(0.2)
        print("rank %d step %d %s" % (rank, step, "debug " * (700 if rank == 3 else 1)), flush=True)
        group.reduce(1)


if "RANK" in os.environ:
    kit5.ranks(4, train)
else:
    kit5.role("launcher")
    print("training on 4 ranks", flush=True)
    port, procs = str(kit5.free_port()), []
    for r in range(4):
        env = dict(os.environ, RANK=str(r), WORLD_SIZE="4", MASTER_PORT=port)
        procs.append(subprocess.Popen([sys.executable, __file__], env=env, stdout=subprocess.PIPE))
    for r, p in enumerate(procs):
        open("rank%d.out" % r, "wb").write(p.communicate()[0])
