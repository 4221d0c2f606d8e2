"""Ranks meet at MASTER_PORT for a second phase. Rank 2 has the port of another job's master in its
configuration, connects there, and waits for a greeting; that one has all of its own ranks and does not accept
any more. Rank 0 waits for rank 2."""
import sys
import time

from kit14 import Store, crunch, dial, free_port, listen, main, me, receive, send, start, told


def other(port):
    me("other")
    door = listen(port)
    while door:
        time.sleep(3600)


def meet(rank, world, port):
    if rank:
        s = dial(port)
        send(s, rank)
        return receive(s)
    door = listen(port)
    seats = {}
    while len(seats) < world - 1:
        s, _ = door.accept()
        seats[receive(s)] = s
    for s in seats.values():
        send(s, "go")


def body(rank, world, port):
    store = Store(rank, world, port)
    if rank == 0:
        ports = [free_port(), free_port()]
        start([sys.executable, __file__, "other", str(ports[1])], "other")
        store.set("ports", ports)
    mine, wrong = store.get("ports")
    for step in range(60):
        crunch(0.14)
        store.all_reduce("pretrain/%d" % step, 0.5)
        if rank == 0:
            told(step)
    print("[rank %d] joins group 'distill'" % rank, flush=True)
    meet(rank, world, wrong if rank == 2 else mine)
    for step in range(20):
        crunch(0.14)
        store.all_reduce("distill/%d" % step, 0.5)


other(int(sys.argv[2])) if "other" in sys.argv else main(4, body)
