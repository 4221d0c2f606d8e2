"""Three ranks in a ring of TCP: each sends all of its gradient to the right before it reads from the left.
That is well while layers are small; after the encoder is unfrozen a gradient is larger than what the kernel
keeps, and all of them send."""
import socket

from kit14 import crunch, dial, main, read, told


class Ring:
    def __init__(self, rank, world, port):
        door = socket.socket()
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(("127.0.0.1", port + rank))
        door.listen(2)
        self.right, self.world = dial(port + (rank + 1) % world), world
        self.left = door.accept()[0]

    def all_gather(self, block):
        for _ in range(self.world - 1):
            self.right.sendall(block)
            block = read(self.left, len(block))


def body(rank, world, port):
    ring = Ring(rank, world, port)
    for step in range(100):
        crunch(0.16)
        if step == 55 and rank == 0:
            print("unfreezing the encoder", flush=True)
        ring.all_gather(bytes(4096 if step < 55 else 64 << 20))
        if rank == 0:
            told(step)


main(3, body, "arg")
