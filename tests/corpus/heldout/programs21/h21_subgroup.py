"""Four ranks in a ring. A group of three of them is made for the evaluation, for which all four ranks have to make the
same call; it stands under `if rank in members`. Rank 3 goes on and is in the next step's sum.

slow: all make the call, rank 3 after 48 s of other work."""
from kit21 import SLOW, STEPS, Ring, Store, busy, crunch, main, told


def new_group(store, world, members):
    store.arrive("group" + "-".join(map(str, members)), world)
    return members


def evaluation_group(store, rank, world):
    members = [0, 1, 2]
    if SLOW:
        if rank == 3:
            busy(48)
        return new_group(store, world, members)
    if rank in members:
        return new_group(store, world, members)


def body(rank, world, port):
    ring, store = Ring(rank, world, port), Store(rank, port)
    for step in range(STEPS):
        crunch(0.2)
        ring.total(0.5)
        if rank == 0:
            told(step)
        if step == 40:
            evaluation_group(store, rank, world)


main(4, body)
