"""In a ring of three ranks by TCP, rank 1 builds an index of its shard before the second epoch, for 55 s; the
others wait in the ring's next sum."""
import socket
import time

from kit15 import crunch, main, receive, send, told


def ring(rank, world, port):
    door = socket.create_server(("127.0.0.1", 0))
    with open("port.%d" % rank, "w") as f:
        f.write("%d\n" % door.getsockname()[1])
    while True:
        try:
            with open("port.%d" % ((rank + 1) % world)) as f:
                text = f.read()
            if text.endswith("\n"):
                break
        except FileNotFoundError:
            pass
        time.sleep(0.05)
    after = socket.create_connection(("127.0.0.1", int(text)))
    return door.accept()[0], after


def reduce(before, after, world, x):
    total = part = x
    for _ in range(world - 1):
        send(after, part)
        part = receive(before)
        total += part
    return total


def body(rank, world, port):
    before, after = ring(rank, world, port)
    for step in range(100):
        if (rank, step) == (1, 65):
            for _ in range(110):
                crunch(0.5)
        crunch(0.12)
        reduce(before, after, world, 1.0)
        if rank == 0:
            told(step)


main(3, body)
