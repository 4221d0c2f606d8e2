"""Helpers of the fifth set, over those of the fourth: other ways to start ranks, other shapes of messages.

ranks(n, body, how): "bash" (a loop in the shell, RANK), "slurm" (SLURM_PROCID), "spawn" (multiprocessing, RANK set in the program).
As a program: kit5.py store PORT is a key-value store whose get waits until the key is set."""
import multiprocessing
import os
import random
import selectors
import socket
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs4"))
from kit4 import compute, crunch, dial, listen, read, receive, role, send, start, with_parent  # noqa: E402,F401


def free_port():
    """The first of ten free ones, below those that the kernel gives to clients: a retried dial can be given the very port it asks for."""
    while True:
        port = random.SystemRandom().randrange(10000, 32000)
        try:
            for p in range(port, port + 10):
                with socket.socket() as s:
                    s.bind(("127.0.0.1", p))
            return port
        except OSError:
            pass


LOOP = 'for r in $(seq 0 $((WORLD_SIZE - 1))); do RANK=$r LOCAL_RANK=$r "$@" & done; wait'


def _spawned(body, r, n, port):
    with_parent()
    role("rank%d" % r)
    os.environ.update(RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE=str(n), MASTER_PORT=str(port))
    body(r, n, port)


def _spawn(n, body, port):
    context = multiprocessing.get_context("spawn")
    procs = [context.Process(target=_spawned, args=(body, r, n, port), name="SpawnProcess-%d" % r) for r in range(n)]
    for p in procs:
        p.start()
    for p in procs:
        p.join()
    sys.exit(max(abs(p.exitcode) for p in procs))


def _slurm(n, port):
    more = dict(os.environ, MASTER_PORT=str(port), SLURM_NTASKS=str(n), SLURM_JOB_ID="4711", SLURM_NODEID="0")
    procs = [subprocess.Popen([sys.executable, *sys.argv], env=dict(more, SLURM_PROCID=str(r), SLURM_LOCALID=str(r))) for r in range(n)]
    sys.exit(max(abs(p.wait()) for p in procs))


def ranks(n, body, how="bash"):
    for rank, world in (("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS")):
        if rank in os.environ:
            with_parent()
            role("rank" + os.environ[rank])
            return body(int(os.environ[rank]), int(os.environ[world]), int(os.environ["MASTER_PORT"]))
    role("launcher")
    port = free_port()
    if how == "bash":
        os.environ.update(WORLD_SIZE=str(n), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        os.execvp("bash", ["bash", "-c", LOOP, "launch", sys.executable, *sys.argv])
    if how == "slurm":
        _slurm(n, port)
    _spawn(n, body, port)


class Butterfly:
    """Recursive doubling over TCP: in round k with the rank whose number differs in bit k."""

    def __init__(self, rank, world, port):
        door, links = listen(port + 1 + rank), {}
        wanted = [rank ^ (1 << k) for k in range(world.bit_length() - 1)]
        for p in [p for p in wanted if p < rank]:
            links[p] = dial(port + 1 + p)
            send(links[p], rank)
        while len(links) < len(wanted):
            s, _ = door.accept()
            links[receive(s)] = s
        self.links = [links[p] for p in wanted]

    def reduce(self, x):
        for s in self.links:
            send(s, x)
            x += receive(s)
        return x


class Mesh:
    """A unix socket between each two ranks."""

    def __init__(self, rank, world, place="mesh"):
        os.makedirs(place, exist_ok=True)
        door, self.links, self.rank = socket.socket(socket.AF_UNIX), {}, rank
        door.bind("%s/%d" % (place, rank))
        door.listen(50)
        for p in range(rank):
            self.links[p] = self.call("%s/%d" % (place, p))
            send(self.links[p], rank)
        while len(self.links) < world - 1:
            s, _ = door.accept()
            self.links[receive(s)] = s

    @staticmethod
    def call(path):
        while True:
            s = socket.socket(socket.AF_UNIX)
            try:
                s.connect(path)
                return s
            except (FileNotFoundError, ConnectionRefusedError):
                s.close()
                time.sleep(0.05)

    def reduce(self, x):
        """Everyone sends to everyone, then receives from everyone."""
        for p in sorted(self.links):
            send(self.links[p], x)
        return x + sum(receive(self.links[p]) for p in sorted(self.links))


class Store:
    def __init__(self, port):
        self.link = dial(port)

    def set(self, key, value=1):
        send(self.link, ("set", key, value))
        return receive(self.link)

    def get(self, key):
        send(self.link, ("get", key, None))
        return receive(self.link)


class StoreServer:
    def __init__(self, port):
        self.values, self.waiting, self.poll = {}, {}, selectors.DefaultSelector()
        self.door = listen(port)
        self.poll.register(self.door, selectors.EVENT_READ)

    def answer(self, link):
        try:
            what, key, value = receive(link)
        except (EOFError, OSError):
            self.poll.unregister(link)
            return
        if what == "set":
            self.values[key] = value
            send(link, True)
            for other in self.waiting.pop(key, []):
                send(other, value)
        elif key in self.values:
            send(link, self.values[key])
        else:
            self.waiting.setdefault(key, []).append(link)

    def serve(self):
        while True:
            for key, _ in self.poll.select():
                if key.fileobj is self.door:
                    self.poll.register(self.door.accept()[0], selectors.EVENT_READ)
                else:
                    self.answer(key.fileobj)


def store():
    """Start a store once for all ranks (before ranks()); its port is in STORE_PORT."""
    if "STORE_PORT" not in os.environ:
        os.environ["STORE_PORT"] = str(free_port())
        start([sys.executable, os.path.abspath(__file__), "store", os.environ["STORE_PORT"]], "store")
    return int(os.environ["STORE_PORT"])


if __name__ == "__main__" and sys.argv[1] == "store":
    StoreServer(int(sys.argv[2])).serve()
