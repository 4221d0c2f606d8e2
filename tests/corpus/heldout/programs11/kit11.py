"""Helpers of the eleventh set: those of the fourth and ninth, and a mesh of connections with tagged messages, as Gloo and MPI have them."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "programs9"), os.path.join(HERE, "..", "programs4")]
from kit9 import (  # noqa: E402,F401
    Hub, Ring, crunch, dial, free_port, listen, main, ranks, read, receive, role, send, start, with_parent)


class Mesh:
    """Every rank has a connection to every other; who wants a message names the sender and the tag."""

    def __init__(self, rank, n, port):
        self.rank, self.n, self.peers, self.early = rank, n, {}, {}
        door = listen(port + rank)
        for r in range(rank):
            self.peers[r] = dial(port + r)
            send(self.peers[r], rank)
        while len(self.peers) < n - 1:
            s, _ = door.accept()
            self.peers[receive(s)] = s

    def put(self, to, tag, x):
        send(self.peers[to], (tag, x))

    def get(self, of, tag):
        while (of, tag) not in self.early:
            got, x = receive(self.peers[of])
            self.early[of, got] = x
        return self.early.pop((of, tag))

    def exchange(self, tag, parts):
        """parts: what each rank is to get. What each rank has for this one."""
        for r in range(self.n):
            if r != self.rank:
                self.put(r, tag, parts[r])
        return [parts[r] if r == self.rank else self.get(r, tag) for r in range(self.n)]

    def reduce(self, tag, x):
        return sum(self.exchange(tag, [x] * self.n))


def again(name, *words, **kw):
    """This program once more, as another process of the job."""
    return start([sys.executable, sys.argv[0], name, *map(str, words)], name, **kw)


def job():
    """What this process is, if `again` has started it, and its words."""
    return (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
