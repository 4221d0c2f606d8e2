"""Helpers of the eighteenth set: those of the sixteenth, and a desk: rank 0 has a connection to each other rank, on
which names and values go as lines of JSON."""
import json
import os
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs16"))
from kit16 import (crunch, dial, free_port, listen, main, me, receive, role, send, start, told,  # noqa: E402,F401
                   unlink_shared, with_parent)

SLOW = "slow" in sys.argv
STEPS = 60 if SLOW else 400


def busy(seconds):
    """Batches that print nothing."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        crunch(0.2)


def again(word):
    """This program once more, as a helper that is told what it is by a word."""
    return [sys.executable, os.path.abspath(sys.argv[0]), word, *sys.argv[1:]]


class Desk:
    def __init__(self, rank, world, port):
        self.rank, self.world, self.files, self.kept = rank, world, {}, {}
        if rank:
            self.files[0] = dial(port).makefile("rw")
            self.write(0, ["hello", rank])
            return
        door = listen(port)
        while len(self.files) < world - 1:
            file = door.accept()[0].makefile("rw")
            self.files[json.loads(file.readline())[1]] = file
        door.close()

    def write(self, r, line):
        self.files[r].write(json.dumps(line) + "\n")
        self.files[r].flush()

    def take(self, r, name):
        while (r, name) not in self.kept:
            line = self.files[r].readline()
            if not line:
                raise EOFError("rank %d has closed its connection" % r)
            what, x = json.loads(line)
            self.kept[r, what] = x
        return self.kept.pop((r, name))

    def mean(self, name, x):
        if self.rank:
            self.write(0, [name, x])
            return self.take(0, name)
        x = (x + sum(self.take(r, name) for r in sorted(self.files))) / self.world
        for r in self.files:
            self.write(r, [name, x])
        return x
