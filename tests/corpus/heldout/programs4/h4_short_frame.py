"""Length-prefixed frames; compression shrinks the body after the length was taken."""
import socket
import struct
import zlib

import kit4


def frame(data, squeeze):
    head = struct.pack("!Q", len(data))
    if squeeze:
        data = zlib.compress(data)
    return head + data


def unframe(s):
    n, = struct.unpack("!Q", kit4.read(s, 8))
    return kit4.read(s, n)


def train(rank, world, port):
    if rank == 0:
        door = kit4.listen(port)
        links = [door.accept()[0] for _ in range(world - 1)]
        for i in range(100):
            for s in links:
                unframe(s)
            for s in links:
                s.sendall(frame(bytes(4096), False))
            print("round", i, flush=True)
    s = kit4.dial(port)
    for i in range(100):
        kit4.crunch(0.3)
        s.sendall(frame(bytes(20000), rank == 2 and i >= 10))
        unframe(s)


kit4.main(4, train, "arg")
