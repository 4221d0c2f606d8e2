"""Four ranks come together anew for a second phase. Rank 3 loads its part of the data first, for 50 s; rank 0
waits in accept() for it, the others for rank 0."""
import time

from kit14 import Store, crunch, dial, free_port, listen, main, receive, send, told


def index(rank):
    for _ in range(50 if rank == 3 else 1):
        crunch(1)


def body(rank, world, port):
    store = Store(rank, world, port)
    if rank == 0:
        store.set("door", free_port())
    second = store.get("door")
    for step in range(60):
        crunch(0.13)
        store.all_reduce("grad/%d" % step, 1)
        if rank == 0:
            told(step)
    if rank == 0:
        door = listen(second)
        peers = [door.accept()[0] for _ in range(world - 1)]
        for p in peers:
            send(p, [receive(p), world])
    else:
        index(rank)
        s = dial(second)
        send(s, rank)
        receive(s)
    for step in range(60, 80):
        crunch(0.13)
        store.all_reduce("grad/%d" % step, 1)
        if rank == 0:
            told(step)
    time.sleep(0.2)


main(4, body)
