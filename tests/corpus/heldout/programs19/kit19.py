"""Helpers of the nineteenth set: those of the eighteenth, a star in which rank 0 looks with select for whichever rank
is ready, and a line of ranks that are joined by unix sockets."""
import json
import os
import select
import socket
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs18"))
from kit18 import (SLOW, STEPS, again, busy, crunch, dial, free_port, listen, main, me, receive, role,
     # noqa: E402,F401
                   send, start, told, unlink_shared, with_parent)


class Star:
    """Names and values as lines of JSON over TCP; what comes early is kept by its name."""

    def __init__(self, rank, world, port):
        self.rank, self.world, self.kept, self.rest = rank, world, {}, {}
        if rank:
            self.links = {0: dial(port)}
            self.write(0, rank, None)
            return
        door, self.links = listen(port), {}
        while len(self.links) < world - 1:
            link = door.accept()[0]
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with link.makefile("r") as file:
                self.links[json.loads(file.readline())[0]] = link
        door.close()

    def write(self, r, name, x):
        self.links[r].sendall((json.dumps([name, x]) + "\n").encode())

    def take_in(self, r):
        part = self.links[r].recv(4096)
        if not part:
            raise EOFError("rank %d has closed its connection" % r)
        *lines, self.rest[r] = (self.rest.get(r, b"") + part).split(b"\n")
        for line in lines:
            name, x = json.loads(line)
            self.kept[r, name] = x

    def mean(self, name, x):
        if self.rank:
            self.write(0, name, x)
            while (0, name) not in self.kept:
                self.take_in(0)
            return self.kept.pop((0, name))
        by_link = {link: r for r, link in self.links.items()}
        while True:
            late = [link for link, r in by_link.items() if (r, name) not in self.kept]
            if not late:
                break
            for link in select.select(late, [], [])[0]:
                self.take_in(by_link[link])
        x = (x + sum(self.kept.pop((r, name)) for r in self.links)) / self.world
        for r in self.links:
            self.write(r, name, x)
        return x


class Line:
    """Sums go from the last rank to rank 0, and the result back."""

    def __init__(self, rank, world, port):
        self.before = self.behind = None
        if rank + 1 < world:
            door = socket.socket(socket.AF_UNIX)
            door.bind("line-%d.new" % rank)
            door.listen(1)
            os.rename("line-%d.new" % rank, "line-%d" % rank)
        if rank:
            self.before = socket.socket(socket.AF_UNIX)
            while not os.path.exists("line-%d" % (rank - 1)):
                time.sleep(0.05)
            self.before.connect("line-%d" % (rank - 1))
        if rank + 1 < world:
            self.behind = door.accept()[0]
            door.close()

    def sum(self, x):
        if self.behind:
            x += receive(self.behind)
        if self.before:
            send(self.before, x)
            x = receive(self.before)
        if self.behind:
            send(self.behind, x)
        return x
