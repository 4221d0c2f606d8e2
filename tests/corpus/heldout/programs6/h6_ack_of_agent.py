"""An agent answers a rank's hello with a go only when all ranks have made their files, and rank 1 makes its file after the go."""
import os

import kit6


def agent(links, n):
    kit6.role("agent")
    for turn in range(1000):
        for s in links.values():
            kit6.receive(s)
        while not all(os.path.exists("turn%d.%d" % (turn, r)) for r in range(n)):
            kit6.time.sleep(0.2)
        for s in links.values():
            kit6.send(s, "go")


def train(rank, links):
    for turn in range(1000):
        kit6.crunch(0.4)
        late = (rank, turn) == (1, 10)
        if not late:
            open("turn%d.%d" % (turn, rank), "w").close()
        kit6.send(links[3], "hello")
        kit6.receive(links[3])
        if late:
            open("turn%d.%d" % (turn, rank), "w").close()
        if rank == 0:
            print("turn", turn, flush=True)


pairs = kit6.Pairs(4)
if os.fork() == 0:
    kit6.with_parent()
    agent(pairs.of(3), 3)
kit6.ranks(3, lambda r, n, port: train(r, pairs.of(r)), "fork")
