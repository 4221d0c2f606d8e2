"""Rank 1 registers with a service whose backlog is full: the handshake is never answered, each try is repeated."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import socket
import time


def registry(w):
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(0)
    port = s.getsockname()[1]
    held = []
    for _ in range(4):
        c = socket.socket()
        c.setblocking(False)
        c.connect_ex(("127.0.0.1", port))
        held.append(c)
    os.write(w, str(port).encode())
    os.close(w)
    while True:
        time.sleep(1000)


def register():
    while True:
        try:
            return socket.create_connection(("127.0.0.1", int(os.environ["REGISTRY"])))
        except OSError:
            pass


def run():
    kit.services(1)
    group = kit.Star()
    for i in range(1000):
        time.sleep(0.3)
        if kit.RANK == 1 and i == 13:
            register().sendall(b"here")
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run, lambda: {"REGISTRY": kit.outside(registry)})
