"""Helpers of the sixteenth set: those of the fourteenth, a mesh of TCP connections and a server of lists."""
import collections
import json
import os
import random
import socket
import sys
import threading

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs14"))
from kit14 import (crunch, dial, listen, main, me, receive, role, send, start, told,  # noqa: E402,F401
                   unlink_shared, with_parent)
import kit4  # noqa: E402
from kit4 import compute  # noqa: E402,F401


def free_port():
    """The first of 30 ports below those that the kernel gives to connections, which might take a neighbour."""
    while True:
        port, doors = random.randrange(10000, 32000, 30), []
        try:
            for k in range(30):
                doors.append(socket.socket())
                doors[-1].bind(("127.0.0.1", port + k))
            return port
        except OSError:
            pass
        finally:
            for door in doors:
                door.close()


kit4.free_port = free_port  # for main()


class Mesh:
    """A connection to each other rank. What comes earlier than it is asked for is kept by its name."""

    def __init__(self, rank, world, port):
        self.rank, self.world, self.peers, self.kept = rank, world, {}, {}
        door = listen(port + rank)
        for r in range(rank):
            self.peers[r] = dial(port + r)
            send(self.peers[r], rank)
        for _ in range(rank + 1, world):
            peer = door.accept()[0]
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.peers[receive(peer)] = peer
        door.close()

    def tell(self, name, x):
        for peer in self.peers.values():
            send(peer, (name, x))

    def take(self, r, name):
        while (r, name) not in self.kept:
            what, x = receive(self.peers[r])
            self.kept[r, what] = x
        return self.kept.pop((r, name))

    def mean(self, name, x):
        self.tell(name, x)
        return (x + sum(self.take(r, name) for r in sorted(self.peers))) / self.world


class Lists:
    """push(key, value); pop(key) waits for one. Lines of JSON to a server of threads, which rank 0 starts."""

    def __init__(self, rank, world, port):
        self.rank, self.world = rank, world
        if rank == 0:
            start([sys.executable, os.path.abspath(__file__), str(port)], "lists")
        self.file = dial(port).makefile("rw")

    def ask(self, *words):
        self.file.write(json.dumps(words) + "\n")
        self.file.flush()
        return json.loads(self.file.readline())

    def push(self, key, value):
        return self.ask("push", key, value)

    def pop(self, key):
        return self.ask("pop", key)

    def mean(self, name, x):
        """Rank 0 collects from one list and answers in one list for each rank."""
        if self.rank:
            self.push(name + ":up", x)
            return self.pop("%s:down:%d" % (name, self.rank))
        total = x + sum(self.pop(name + ":up") for _ in range(self.world - 1))
        for r in range(1, self.world):
            self.push("%s:down:%d" % (name, r), total / self.world)
        return total / self.world


def serve(port):
    lists, changed = collections.defaultdict(collections.deque), threading.Condition()

    def talk(peer):
        file = peer.makefile("rw")
        for line in file:
            what, key, *value = json.loads(line)
            with changed:
                if what == "push":
                    lists[key].append(value[0])
                    changed.notify_all()
                    answer = len(lists[key])
                else:
                    changed.wait_for(lambda: lists[key])
                    answer = lists[key].popleft()
            file.write(json.dumps(answer) + "\n")
            file.flush()

    door = listen(port)
    while True:
        threading.Thread(target=talk, args=(door.accept()[0],), daemon=True).start()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
