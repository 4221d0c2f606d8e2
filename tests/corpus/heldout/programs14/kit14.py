"""Helpers of the fourteenth set: those of the fourth (ranks), and a store of keys in a process of its own,
which rank 0 starts, with sums and barriers by keys."""
import json
import os
import socket
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs4"))
from kit4 import (crunch, dial, free_port, libc, listen, main, read, receive, role, send, start,  # noqa: E402,F401
                  with_parent)

SLOW = "slow" in sys.argv


def me(name):
    """For a process that a shell, or mpiexec, has started."""
    with_parent()
    role(name)


def unlink_shared():
    """As in kit13.py: MPICH leaves its file in /dev/shm if its ranks are killed."""
    with open("/proc/self/maps") as f:
        paths = {line.split()[-1] for line in f if "/dev/shm/mpich_shm" in line and "(deleted)" not in line}
    for path in paths:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass


def told(step, every=5):
    if step % every == 0:
        print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)), flush=True)


class Store:
    """set(key, value), get(key): waits until it is set. Lines of JSON over TCP."""

    def __init__(self, rank, world, port):
        self.rank, self.world = rank, world
        if rank == 0:
            start([sys.executable, os.path.abspath(__file__), "store", str(port)], "store")
        self.file = dial(port).makefile("rw")

    def ask(self, *words):
        self.file.write(json.dumps(words) + "\n")
        self.file.flush()
        return json.loads(self.file.readline())

    def set(self, key, value):
        return self.ask("set", key, value)

    def get(self, key):
        return self.ask("get", key)

    def all_reduce(self, key, x):
        self.set("%s/%d" % (key, self.rank), x)
        return sum(self.get("%s/%d" % (key, r)) for r in range(self.world))

    def barrier(self, key):
        self.all_reduce("barrier/" + key, 1)


def serve(port):
    keys, changed = {}, threading.Condition()

    def talk(peer):
        file = peer.makefile("rw")
        for line in file:
            what, key, *value = json.loads(line)
            with changed:
                if what == "set":
                    keys[key] = value[0]
                    changed.notify_all()
                else:
                    changed.wait_for(lambda: key in keys)
            file.write(json.dumps(keys[key]) + "\n")
            file.flush()

    door = listen(port)
    while True:
        threading.Thread(target=talk, args=(door.accept()[0],), daemon=True).start()


if __name__ == "__main__":
    serve(int(sys.argv[2]))
