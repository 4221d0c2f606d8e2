"""Helpers of the seventeenth set: those of the sixteenth; a star of unix sockets, a chain of TCP connections, and a
coordinator in a process of its own, which the launcher or rank 0 starts. All of them sum by names."""
import json
import os
import socket
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs16"))
from kit16 import (crunch, dial, free_port, listen, main, me, receive, role, send, start, told,  # noqa: E402,F401
                   unlink_shared, with_parent)

SLOW = "slow" in sys.argv


def busy(seconds):
    """Batches that print nothing."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        crunch(0.2)


class Named:
    """What comes from a peer earlier than it is asked for is kept by its name."""

    def __init__(self):
        self.peers, self.kept = {}, {}

    def tell(self, r, name, x):
        send(self.peers[r], (name, x))

    def take(self, r, name):
        while (r, name) not in self.kept:
            what, x = receive(self.peers[r])
            self.kept[r, what] = x
        return self.kept.pop((r, name))


class Star(Named):
    """Rank 0 has a unix socket to each other rank, adds up, and sends the mean back."""

    def __init__(self, rank, world, port):
        super().__init__()
        self.rank, self.world = rank, world
        if rank == 0:
            door = socket.socket(socket.AF_UNIX)
            door.bind("\0star-%d" % port)
            door.listen(16)
            while len(self.peers) < world - 1:
                peer = door.accept()[0]
                self.peers[receive(peer)] = peer
            return
        self.peers[0] = socket.socket(socket.AF_UNIX)
        for _ in range(600):
            try:
                self.peers[0].connect("\0star-%d" % port)
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        send(self.peers[0], rank)

    def mean(self, name, x):
        if self.rank:
            self.tell(0, name, x)
            return self.take(0, name)
        x = (x + sum(self.take(r, name) for r in sorted(self.peers))) / self.world
        for r in self.peers:
            self.tell(r, name, x)
        return x


class Chain(Named):
    """Sums go from each rank to the next one, the mean comes back the same way. Ports from port + 1 on."""

    def __init__(self, rank, world, port):
        super().__init__()
        self.rank, self.world = rank, world
        door = listen(port + 1 + rank)
        if rank:
            self.peers[rank - 1] = dial(port + rank)
        if rank < world - 1:
            self.peers[rank + 1] = door.accept()[0]
        door.close()

    def mean(self, name, x):
        if self.rank:
            x += self.take(self.rank - 1, name)
        if self.rank < self.world - 1:
            self.tell(self.rank + 1, name, x)
            x = self.take(self.rank + 1, name)
        else:
            x /= self.world
        if self.rank:
            self.tell(self.rank - 1, name, x)
        return x


class Meeting:
    """mean(name, x) by the coordinator, to which each rank has one connection."""

    def __init__(self, rank, world, port, begin=True):
        self.rank, self.world = rank, world
        if rank == 0 and begin:
            start([sys.executable, os.path.abspath(__file__), str(port), str(world)], "coordinator")
        self.file = dial(port).makefile("rw")

    def ask(self, name, x, number=0):
        self.file.write(json.dumps([number, name, x]) + "\n")
        self.file.flush()

    def mean(self, name, x):
        self.ask(name, x)
        return json.loads(self.file.readline())[1]


def coordinate(port, world):
    """A line is a number, a name and a value. Who told a name gets its number and the mean as the last one comes."""
    names, lock = {}, threading.Lock()

    def talk(peer):
        file = peer.makefile("rw")
        for line in file:
            number, name, x = json.loads(line)
            with lock:
                came = names.setdefault(name, [])
                came.append((file, number, x))
                if len(came) < world:
                    continue
                del names[name]
            for to, number, _ in came:
                to.write(json.dumps([number, sum(c[2] for c in came) / world]) + "\n")
                to.flush()

    door = listen(port)
    while True:
        threading.Thread(target=talk, args=(door.accept()[0],), daemon=True).start()


if __name__ == "__main__":
    coordinate(int(sys.argv[1]), int(sys.argv[2]))
