"""Rank 0 tries every two seconds to reach a service that comes up after 70 s."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import socket
import threading
import time


def late(w):
    port = kit.free_port()
    os.write(w, str(port).encode())
    os.close(w)
    time.sleep(kit.secs(72))
    srv = socket.create_server(("127.0.0.1", port))
    while True:
        c, _ = srv.accept()
        c.sendall(b"ok")


def connect(port):
    wait = kit.secs(2)
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port)).recv(2)
        except ConnectionRefusedError:
            time.sleep(wait)


def run():
    group = kit.Star()
    for i in range(18):
        time.sleep(0.25)
        if i == 10 and kit.RANK == 0:
            connect(int(os.environ["TRACKER"]))
        group.barrier()
        if kit.RANK == 1:
            kit.step(i)


kit.main(3, run, lambda: {"TRACKER": kit.outside(late)})
