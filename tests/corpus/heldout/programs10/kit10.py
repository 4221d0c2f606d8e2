"""Helpers of the tenth set: those of the fourth and ninth, and two more topologies."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "programs9"), os.path.join(HERE, "..", "programs4")]
from kit9 import (  # noqa: E402,F401
    Hub, Ring, Tree, compute, crunch, dial, free_port, listen, main, ranks, read, receive, role, send, start, with_parent)


def log(rank, s, **values):
    """One line of a trainer's log."""
    if rank == 0:
        print("[trainer] it=%d %s" % (s, " ".join("%s=%s" % kv for kv in values.items())), flush=True)


def again(name, *words, **kw):
    """This program once more, as another process of the job."""
    return start([sys.executable, sys.argv[0], name, *map(str, words)], name, **kw)


def job():
    """What this process is, if `again` has started it, and its words."""
    return (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
