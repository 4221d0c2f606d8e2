"""Rank 1 loads a shard from a server that gives 4 KB a second."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import socket
import time


def drip(w):
    srv = socket.create_server(("127.0.0.1", 0))
    os.write(w, str(srv.getsockname()[1]).encode())
    os.close(w)
    while True:
        c, _ = srv.accept()
        c.recv(100)
        for _ in range(int(kit.secs(70))):
            c.sendall(b"d" * 4096)
            time.sleep(1)
        c.close()


def fetch(port):
    s = socket.create_connection(("127.0.0.1", port))
    s.sendall(b"GET shard\n")
    n = 0
    while True:
        part = s.recv(65536)
        if not part:
            return n
        n += len(part)


def run():
    group = kit.Mesh()
    for i in range(18):
        time.sleep(0.25)
        if i == 10 and kit.RANK == 1:
            fetch(int(os.environ["SHARDS"]))
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run, lambda: {"SHARDS": kit.outside(drip)})
