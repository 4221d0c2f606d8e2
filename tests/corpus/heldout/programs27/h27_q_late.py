"""Rank 2 is started by its launcher 70 s after the others, which wait for it with accept and recv ("node still in the queue"). Healthy."""
import os
import sys
import time

from kit27 import OWN, crunch, dial, free_port, listen, receive, role, send, start, tell


def train(rank, port):
    if rank == 0:
        door = listen(port)
        ends = [door.accept()[0] for _ in range(2)]
        for end in ends:
            send(end, "all here")
    else:
        end = dial(port)
        receive(end)
    for step in range(80):
        crunch(0.2)
        if rank:
            send(end, step)
            receive(end)
        else:
            for end in ends:
                receive(end)
            for end in ends:
                send(end, step)
            tell(step, "step {step} loss {loss:.4f}")


def launch():
    role("launcher")
    port, ranks = str(free_port()), []
    for r in range(3):
        if r == 2:
            print("rank 2: waiting for its node", flush=True)
            time.sleep(70)
        ranks.append(start(OWN + ["rank", port], "rank%d" % r, env=dict(os.environ, RANK=str(r), WORLD_SIZE="3")))
    sys.exit(max(p.wait() for p in ranks))


if "rank" in sys.argv:
    train(int(os.environ["RANK"]), int(sys.argv[2]))
else:
    launch()
