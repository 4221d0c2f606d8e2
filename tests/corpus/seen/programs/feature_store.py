"""Rank 1 asks a feature server over TCP, with select; the server takes the request and says nothing after some."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import select
import socket
import time


def serve(w):
    srv = socket.create_server(("127.0.0.1", 0))
    os.write(w, str(srv.getsockname()[1]).encode())
    os.close(w)
    c, _ = srv.accept()
    n = 0
    while True:
        if not c.recv(100):
            return
        n += 1
        if n < 14:
            c.sendall(b"f" * 64)


def lookup(s, key):
    s.sendall(key.encode())
    ready, _, _ = select.select([s], [], [])
    return ready[0].recv(64)


def run():
    kit.services(2)
    group = kit.Ring()
    if kit.RANK == 1:
        store = socket.create_connection(("127.0.0.1", int(os.environ["FEATURES"])))
        kit.idle_loaders(2)
    for i in range(1000):
        time.sleep(0.25)
        if kit.RANK == 1:
            lookup(store, f"user{i}")
        group.allreduce(i)
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run, lambda: {"FEATURES": kit.outside(serve)})
