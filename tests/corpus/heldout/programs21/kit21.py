"""Helpers of the twenty-first set: a ring by TCP, a hub by TCP or a unix socket, a store (a process of its own that
counts and adds up by key), from the fourth set how ranks are started. As a program: kit21.py PORT is the store."""
import os
import selectors
import socket
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs4"))
from kit4 import (crunch, dial, free_port, listen, main, receive, role, send, start,  # noqa: E402,F401
                  with_parent)

SLOW = "slow" in sys.argv
STEPS = 60 if SLOW else 400


def busy(seconds):
    """Long work of which nothing is printed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        crunch(0.25)


def told(step):
    if step % 5 == 0:
        print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)), flush=True)


class Ring:
    """Each rank sends to the next one and receives from the one before."""

    def __init__(self, rank, world, port):
        self.world = world
        door = listen(port + 1 + rank)
        self.to = dial(port + 1 + (rank + 1) % world)
        self.left = door.accept()[0]
        door.close()

    def total(self, x):
        part, whole = x, x
        for _ in range(self.world - 1):
            send(self.to, part)
            part = receive(self.left)
            whole += part
        return whole


class Hub:
    """Rank 0 has a connection to each other rank; what comes under another name than the one waited for is kept."""

    def __init__(self, rank, world, port=None):
        self.rank, self.world, self.ends, self.kept = rank, world, {}, {}
        if rank:
            self.ends[0] = dial(port) if port else dial_unix("hub")
            send(self.ends[0], rank)
            return
        door = listen(port) if port else listen_unix("hub")
        while len(self.ends) < world - 1:
            end = door.accept()[0]
            self.ends[receive(end)] = end
        door.close()

    def take(self, r, name):
        while (r, name) not in self.kept:
            what, x = receive(self.ends[r])
            self.kept[r, what] = x
        return self.kept.pop((r, name))

    def mean(self, name, x):
        if self.rank:
            send(self.ends[0], (name, x))
            return self.take(0, name)
        x = (x + sum(self.take(r, name) for r in sorted(self.ends))) / self.world
        for end in self.ends.values():
            send(end, (name, x))
        return x


def listen_unix(path):
    s = socket.socket(socket.AF_UNIX)
    s.bind(path + ".new")
    s.listen(16)
    os.rename(path + ".new", path)
    return s


def dial_unix(path):
    while not os.path.exists(path):
        time.sleep(0.05)
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    return s


class Store:
    """The store's client; rank 0 starts the store."""

    def __init__(self, rank, port):
        if rank == 0:
            start([sys.executable, os.path.abspath(__file__), str(port)], "store")
        self.end = dial(port)

    def total(self, key, x, n):
        """The sum of what n callers give under this key, when all have."""
        send(self.end, (key, x, n))
        return receive(self.end)

    def arrive(self, key, n):
        self.total(key, 0, n)


def serve(port):
    door, chosen, open_keys = listen(port), selectors.DefaultSelector(), {}
    chosen.register(door, selectors.EVENT_READ)
    while True:
        for key, _ in chosen.select():
            if key.fileobj is door:
                chosen.register(door.accept()[0], selectors.EVENT_READ)
                continue
            try:
                name, x, n = receive(key.fileobj)
            except (EOFError, OSError):
                chosen.unregister(key.fileobj)
                key.fileobj.close()
                continue
            waiting = open_keys.setdefault(name, [])
            waiting.append((key.fileobj, x))
            if len(waiting) == n:
                for end, _ in waiting:
                    send(end, sum(y for _, y in waiting))
                del open_keys[name]


if __name__ == "__main__":
    serve(int(sys.argv[1]))
