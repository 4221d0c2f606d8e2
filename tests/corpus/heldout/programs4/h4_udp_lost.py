"""Gradients as datagrams, no retransmission."""
import socket
import struct

import kit4


def train(rank, world, port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", port + rank))
    if rank == 0:
        import time
        time.sleep(0.5)
        for r in range(1, world):
            s.sendto(b"go", ("127.0.0.1", port + r))
    else:
        s.recv(16)
    for i in range(100):
        kit4.crunch(0.25)
        if rank:
            size = 2048 if (i, rank) != (11, 2) else 70000
            try:
                s.sendto(struct.pack("!Id", rank, 0.5) + bytes(size), ("127.0.0.1", port))
            except OSError:
                pass
            s.recv(65536)
            continue
        for _ in range(world - 1):
            s.recv(65536)
        for r in range(1, world):
            s.sendto(bytes(8), ("127.0.0.1", port + r))
        print("iter %d ok" % i, flush=True)


kit4.main(3, train)
