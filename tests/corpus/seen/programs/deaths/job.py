"""Helpers shared by the programs of this folder: roles, steps, ranks that talk over TCP."""
import os
import pickle
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RANK = int(os.environ.get("RANK", "0"))
WORLD = int(os.environ.get("WORLD_SIZE", "1"))


def role(name, pid=None):
    path = os.environ.get("CORPUS_ROLES")
    if path:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(fd, f"{name} {pid or os.getpid()}\n".encode())
        os.close(fd)


def roles():
    try:
        with open(os.environ["CORPUS_ROLES"]) as f:
            return dict(line.split()[:2] for line in f)
    except OSError:
        return {}


def pid_of(name, wait=20):
    end = time.monotonic() + wait
    while time.monotonic() < end:
        if name in roles():
            return int(roles()[name])
        time.sleep(0.05)
    raise TimeoutError(f"no process took the role {name}")


def train(first, last, pause=0.02):
    for i in range(first, last):
        print(f"step {i} loss {2.0 / (1 + i / 10):.4f} lr 3.0e-04", flush=True)
        time.sleep(pause)


def warm():
    """So long that everything around a job has settled."""
    train(0, 25, 0.1)


def fork(name, fn, *args):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            role(name)
            fn(*args)
            code = 0
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return pid


def default(*signals):
    for s in signals:
        signal.signal(s, signal.SIG_DFL)


class Star:
    """Sums over ranks; rank 0 is the hub. A peer that left is an error worded as Gloo words it."""

    def __init__(self):
        port = int(os.environ["MASTER_PORT"])
        self.peers = {}
        if RANK == 0:
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(("127.0.0.1", port))
            s.listen(16)
            while len(self.peers) < WORLD - 1:
                c, _ = s.accept()
                self.peers[struct.unpack("i", c.recv(4))[0]] = c
            return
        for _ in range(200):
            try:
                c = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                time.sleep(0.1)
        c.sendall(struct.pack("i", RANK))
        self.peers[0] = c

    def read(self, c):
        got = c.recv(8)
        if len(got) < 8:
            raise ConnectionResetError("")
        return struct.unpack("d", got)[0]

    def sum(self, x):
        try:
            if RANK:
                self.peers[0].sendall(struct.pack("d", x))
                return self.read(self.peers[0])
            total = x + sum(self.read(c) for c in self.peers.values())
            for c in self.peers.values():
                c.sendall(struct.pack("d", total))
            return total
        except OSError:
            raise RuntimeError(f"[../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer "
                               f"[127.0.0.1]:{os.environ['MASTER_PORT']}") from None

    def train(self, first, last, pause=0.02):
        for i in range(first, last):
            self.sum(1.0)
            print(f"[rank{RANK}] step {i} loss {2.0 / (1 + i / 10):.4f}", flush=True)
            time.sleep(pause)
