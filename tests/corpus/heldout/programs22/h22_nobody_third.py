"""A launcher for ranks of its own, told to start what this machine has to: two ranks of a world of three. The third would
be started on another machine, and nobody has done so. Rank 0 waits for it at the door, rank 1 for rank 0's word."""
import os
import sys

from kit22 import Model, busy, dial, free_port, listen, receive, role, send, start

LOCAL, WORLD = 2, 3


def rendezvous(rank, world, port):
    if rank:
        end = dial(port)
        send(end, rank)
        receive(end)
        return [end]
    door, ends = listen(port), []
    while len(ends) < world - 1:
        end = door.accept()[0]
        print("rank %d of %d has joined" % (receive(end), world), flush=True)
        ends.append(end)
    for end in ends:
        send(end, "all there")
    return ends


def launch():
    port = free_port()
    ranks = []
    for rank in range(LOCAL):
        env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(WORLD), MASTER_ADDR="127.0.0.1",
                   MASTER_PORT=str(port), LOCAL_WORLD_SIZE=str(LOCAL))
        ranks.append(start([sys.executable] + sys.argv, "rank%d" % rank, env=env))
    sys.exit(max(p.wait() for p in ranks))


def body(rank, world, port):
    model = Model(rank)
    for step in range(20):
        model.apply(model.gradient(model.batch()))
        if rank == 0:
            model.told(step)
    print("rank %d is warm, joins" % rank, flush=True)
    rendezvous(rank, world, port)
    busy(60)


if "RANK" in os.environ:
    body(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(os.environ["MASTER_PORT"]))
else:
    role("launcher")
    launch()
