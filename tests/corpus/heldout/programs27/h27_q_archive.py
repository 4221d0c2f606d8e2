"""Rank 0 writes a checkpoint to a store that takes 64 KiB in 4 s, over TCP, for about 72 s; rank 1 waits in the next sum. Healthy."""
import os
import socket
import sys
import time

from kit27 import OWN, STALL, crunch, dial, free_port, listen, main, read, start, tell


def store(port):
    end = listen(port).accept()[0]
    while end.recv(1 << 16, socket.MSG_WAITALL):
        time.sleep(4)


def train(rank, world, port):
    other = listen(port).accept()[0] if rank == 0 else dial(port)
    for step in range(110):
        crunch(0.2)
        if rank == 0 and step == STALL:
            door = free_port()
            keeper = start(OWN + ["store", str(door)], "store")
            s = dial(door)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 15)
            print("saving checkpoint-%d" % step, flush=True)
            s.sendall(os.urandom(18 << 16))
            s.shutdown(socket.SHUT_WR)
            keeper.wait()
            s.close()
        other.sendall(b"g" * 8)
        read(other, 8)
        if rank == 0:
            tell(step, "step {step} loss {loss:.4f}")


if "store" in sys.argv:
    store(int(sys.argv[2]))
else:
    main(2, train)
