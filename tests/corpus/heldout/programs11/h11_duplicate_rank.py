"""Two nodes of two processes: the script that starts them adds the node's number to the local rank where it should have multiplied, so there
are two processes of rank 1, and none of rank 3. Rank 0 waits for three different numbers."""
import os
import sys

from kit11 import dial, free_port, listen, receive, role, send, start

WORLD = 4


def launcher():
    role("launcher")
    port, procs, names = free_port(), [], iter(["rank0", "rank1", "twin", "rank2"])
    for node in range(2):
        for local in range(2):
            env = dict(os.environ, RANK=str(node + local), LOCAL_RANK=str(local), WORLD_SIZE=str(WORLD), NODE_RANK=str(node),
                       MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
            procs.append(start([sys.executable, sys.argv[0]], next(names), env=env))
    sys.exit(max(abs(p.wait()) for p in procs))


def init_process_group():
    rank, port = int(os.environ["RANK"]), int(os.environ["MASTER_PORT"])
    if rank:
        up = dial(port)
        send(up, {"rank": rank, "host": "node%s" % os.environ["NODE_RANK"]})
        return rank, receive(up)
    door, members = listen(port), {}
    while len(members) < WORLD - 1:
        s, _ = door.accept()
        hello = receive(s)
        members[hello["rank"]] = members.get(hello["rank"], []) + [s]
    for seats in members.values():
        for s in seats:
            send(s, sorted(members))
    return rank, sorted(members)


if "RANK" not in os.environ:
    launcher()
print("initializing distributed (rank %s of %d)" % (os.environ["RANK"], WORLD), flush=True)
print("group", init_process_group(), flush=True)
