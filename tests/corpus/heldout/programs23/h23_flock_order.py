"""A preparation of data with two programs beside each other: one makes an index, and locks the shards and then the
index; the other one takes out duplicates, and locks the index and then the shards. Both have one and want the other
one.

slow: both lock in one order, and the duplicates take 70 s."""
import fcntl
import os
import sys
import time

from kit23 import SLOW, busy, crunch, role, start, told


def locked(name):
    f = open(name + ".lock", "w")
    fcntl.flock(f, fcntl.LOCK_EX)
    return f


def index():
    for step in range(60 if SLOW else 500):
        with locked("shards"):
            crunch(0.2)
            with locked("index"):
                told(step, 1 / (1 + step))


def duplicates():
    time.sleep(7)
    first, second = ("shards", "index") if SLOW else ("index", "shards")
    with locked(first):
        crunch(0.5)
        with locked(second):
            busy(70 if SLOW else 1)


def run():
    role("main")
    own = [sys.executable, os.path.abspath(__file__)]
    programs = [start(own + [name] + sys.argv[1:], name) for name in ("index", "duplicates")]
    sys.exit(max(p.wait() for p in programs))


{"index": index, "duplicates": duplicates}.get(sys.argv[1] if sys.argv[1:] else "", run)()
