"""Six ranks in a ring resume from checkpoints of their own. Rank 4's newest one is damaged and it has taken the one
before: it counts four steps less than the others, which nobody sees until they have their last step and wait for all to
be done; rank 4 waits for a sum that they will not make."""
import os
import socket
import time

from kit13 import crunch, main, receive, send

LAST = 60


class Ring:
    def __init__(self, rank, world):
        self.world = world
        door = socket.socket(socket.AF_UNIX)
        door.bind("rank%d.sock" % rank)
        door.listen(1)
        self.next = socket.socket(socket.AF_UNIX)
        while self.next.connect_ex("rank%d.sock" % ((rank + 1) % world)):
            time.sleep(0.05)
        self.before, _ = door.accept()

    def sum(self, x):
        total = x
        for _ in range(self.world - 1):
            send(self.next, x)
            x = receive(self.before)
            total += x
        return total


def newest(rank):
    for step in (40, 36):
        if rank != 4 or step != 40:
            return step
        print("rank 4: step 40 does not match its checksum", flush=True)


def all_done(rank, world):
    open("done.%d" % rank, "w").close()
    while not all(os.path.exists("done.%d" % r) for r in range(world)):
        time.sleep(1)


def body(rank, world, port):
    ring, begin = Ring(rank, world), newest(rank)
    print("rank %d: resumed at step %d" % (rank, begin), flush=True)
    for step in range(begin, LAST):
        crunch(0.1)
        loss = ring.sum(1 / (step + 1))
        if rank == 0:
            print("iteration %d/%d loss %.4f" % (step + 1, LAST, loss), flush=True)
    all_done(rank, world)


if __name__ == "__main__":
    main(6, body, "arg")
