"""Three commands in three terminals, as a tutorial says; in the third the rank was not changed."""
import os
import sys

import kit9


def train(rank, n, port):
    links, seats = [], {}
    if rank:
        links.append(kit9.dial(port))
        kit9.send(links[0], rank)
    else:
        door = kit9.listen(port)
        while len(seats) < n - 1:
            links.append(door.accept()[0])
            seats[kit9.receive(links[-1])] = links[-1]
    kit9.receive(links[0]) if rank else [kit9.send(link, n) for link in links]
    print("rank %d: all %d are here" % (rank, n), flush=True)
    for s in range(40):
        kit9.crunch(0.2)
        for link in links:
            kit9.send(link, s)
        for link in links:
            kit9.receive(link)
        kit9.step(rank, s, 40)


if "RANK" in os.environ:
    train(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(os.environ["MASTER_PORT"]))
    sys.exit(0)
port, procs = kit9.free_port(), []
for name, rank in (("rank0", 0), ("rank1", 1), ("other1", 1)):
    env = dict(os.environ, RANK=str(rank), WORLD_SIZE="3", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    procs.append(kit9.start([sys.executable, sys.argv[0]], name, env=env))
for p in procs:
    p.wait()
