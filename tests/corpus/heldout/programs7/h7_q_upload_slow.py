"""Rank 0 puts a checkpoint of 16 MB to a store that takes 256 KB a second; rank 1 waits for it in a sum."""
import os
import socket
import sys
import time

import kit7


def store(port):
    door = socket.socket()
    door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    door.bind(("127.0.0.1", port))
    door.listen(4)
    s, _ = door.accept()
    left = 16 << 20
    while left > 0:
        time.sleep(0.25)
        left -= len(s.recv(65536, socket.MSG_WAITALL))
    s.sendall(b"stored\n")
    s.recv(1)


def train(rank, world, port):
    line = kit7.Line(rank, world, port)
    for step in range(24):
        kit7.crunch(0.2)
        if rank == 0 and step == 12:
            with kit7.dial(int(os.environ["STORE_AT"])) as s:
                s.sendall(bytes(16 << 20))
                s.recv(7)
        line.reduce()
        if rank == 0:
            print("step %d/24 loss %.3f" % (step, 2 / (step + 1)), flush=True)


if sys.argv[1:]:
    store(int(sys.argv[1]))
    sys.exit()
if "STORE_AT" not in os.environ:
    os.environ["STORE_AT"] = str(kit7.free_port())
    kit7.start([sys.executable, __file__, os.environ["STORE_AT"]], "store")
kit7.ranks(2, train)
