"""Helpers of the eighth set: what a training script of one's own has. Ranks by an argument or by names of their own, a star over
multiprocessing.connection, sums by files in a folder, flags in a numpy memmap, a small server of lists that speaks like Redis.

As a program: kit8.py lists PORT."""
import os
import socketserver
import subprocess
import sys
import threading
import time
from multiprocessing.connection import Client, Listener

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs4"))
from kit4 import compute, crunch, dial, free_port, listen, role, start, with_parent  # noqa: E402,F401

SELF = os.path.abspath(__file__)


def _mine(how):
    """The number of this process and the port, if it is a worker."""
    if how == "flag":
        return (int(sys.argv[sys.argv.index("--worker") + 1]), int(sys.argv[-1])) if "--worker" in sys.argv else (None, 0)
    if how == "pos":
        return (int(sys.argv[1]), int(sys.argv[2])) if sys.argv[2:] else (None, 0)
    number = os.environ.get(how)
    return (int(number), int(os.environ["TRAIN_PORT"])) if number else (None, 0)


def ranks(n, body, how="flag"):
    """n workers that run body(number, n, port); how: "flag" (--worker 2), "pos" (2 PORT), or the name of a variable (NODE_NO, PART)."""
    number, port = _mine(how)
    if number is not None:
        with_parent()
        role("rank%d" % number)
        return body(number, n, port)
    role("launcher")
    port, procs = free_port(), []
    for r in range(n):
        words = {"flag": ["--worker", str(r), "--port", str(port)], "pos": [str(r), str(port)]}.get(how, [])
        env = os.environ if words else dict(os.environ, **{how: str(r), how.split("_")[0] + "S": str(n), "TRAIN_PORT": str(port)})
        procs.append(subprocess.Popen([sys.executable, sys.argv[0], *words], env=env))
    sys.exit(max([abs(p.wait()) for p in procs]))


def client(port, key=b"train"):
    for _ in range(400):
        try:
            return Client(("127.0.0.1", port), authkey=key)
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise SystemExit("nobody at port %d" % port)


class Star:
    """Rank 0 hears all others and answers them."""

    def __init__(self, rank, n, port):
        self.rank, self.links = rank, []
        if rank:
            self.hub = client(port)
            self.hub.send(rank)
        else:
            with Listener(("127.0.0.1", port), backlog=n, authkey=b"train") as door:
                links = [door.accept() for _ in range(n - 1)]
            self.links = [link for _, link in sorted((link.recv(), link) for link in links)]

    def mean(self, x):
        if self.rank:
            self.hub.send(x)
            return self.hub.recv()
        x = (x + sum(link.recv() for link in self.links)) / (1 + len(self.links))
        return self.tell(x)

    def tell(self, x=None):
        """What rank 0 says to all."""
        if self.rank:
            return self.hub.recv()
        for link in self.links:
            link.send(x)
        return x


def folder_sum(name, rank, n, x):
    """All write a file, all read all files; looked for every 50 ms."""
    with open(".tmp-%s-%d" % (name, rank), "w") as f:
        f.write(repr(x))
    os.rename(f.name, "%s-%d" % (name, rank))
    return sum(float(open(wait_for("%s-%d" % (name, r))).read()) for r in range(n))


def wait_for(path, pause=0.05):
    while not os.path.exists(path):
        time.sleep(pause)
    return path


class _Lists(socketserver.StreamRequestHandler):
    lists, subscribers, change = {}, {}, threading.Condition()

    def handle(self):
        while True:
            head = self.rfile.readline()
            if not head:
                return
            words = []
            for _ in range(int(head[1:])):
                size = int(self.rfile.readline()[1:])
                words.append(self.rfile.read(size + 2)[:-2].decode())
            self.wfile.write(self.answer(*words))

    def answer(self, word, key, value=""):
        with self.change:
            if word == "LPUSH":
                self.lists.setdefault(key, []).insert(0, value)
                self.change.notify_all()
                return b":%d\r\n" % len(self.lists[key])
            if word == "BRPOP":
                self.change.wait_for(lambda: self.lists.get(key))
                return self.text(self.lists[key].pop())
            if word == "SUBSCRIBE":
                self.subscribers.setdefault(key, []).append(self.wfile)
                return b":1\r\n"
            for to in self.subscribers.get(key, []):
                to.write(self.text(value))
            return b":%d\r\n" % len(self.subscribers.get(key, []))

    @staticmethod
    def text(value):
        return b"$%d\r\n%s\r\n" % (len(value), value.encode())


class Lists:
    """A client of the server of lists."""

    def __init__(self):
        self.link = dial(int(os.environ["LISTS_PORT"]))
        self.file = self.link.makefile("rb")

    def ask(self, *words):
        parts = [str(w).encode() for w in words]
        self.link.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
        return self.hear()

    def hear(self):
        line = self.file.readline()
        if line[:1] == b"$":
            return self.file.read(int(line[1:]) + 2)[:-2].decode()
        return int(line[1:])


def lists():
    """Start the server of lists, before ranks()."""
    if "LISTS_PORT" not in os.environ:
        os.environ["LISTS_PORT"] = str(free_port())
        start([sys.executable, SELF, "lists", os.environ["LISTS_PORT"]], "lists")


if __name__ == "__main__" and sys.argv[1:2] == ["lists"]:
    server = socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[2])), _Lists)
    server.daemon_threads = True
    server.serve_forever()
