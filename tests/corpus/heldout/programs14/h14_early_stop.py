"""Four ranks add up along a ring. Each looks at its own loss of validation to stop early: rank 1 has lost its
patience, leaves the loop and waits for the files with which all ranks tell that they are done."""
import os
import time

from kit14 import crunch, dial, listen, main, receive, send, told


class Ring:
    def __init__(self, rank, world, port):
        self.world = world
        door = listen(port + rank)
        self.right = dial(port + (rank + 1) % world)
        self.left = door.accept()[0]

    def reduce(self, x):
        total = x
        for _ in range(self.world - 1):
            send(self.right, x)
            x = receive(self.left)
            total += x
        return total


def finish(rank, world):
    open("done.%d" % rank, "w").close()
    while not all(os.path.exists("done.%d" % r) for r in range(world)):
        time.sleep(0.5)


def body(rank, world, port):
    ring, best, patience = Ring(rank, world, port), 1e9, 0
    for step in range(400):
        crunch(0.15)
        ring.reduce(0.5)
        if rank == 0:
            told(step)
        loss = 1.0 / (step + 1) if rank != 1 or step < 40 else 0.1 + step
        patience = 0 if loss < best else patience + 1
        best = min(best, loss)
        if patience >= 10:
            break
    finish(rank, world)


main(4, body)
