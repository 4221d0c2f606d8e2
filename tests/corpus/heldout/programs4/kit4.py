"""Helpers of the fourth set: note who is who, start ranks in three ways, all-reduces made by hand over TCP.

main(n, body, how) calls body(rank, world, port) in n processes. how: "env" (RANK at start), "arg" (--rank R), "fork"
(multiprocessing, RANK set in the program). As a program: kit4.py N [--arg] -- COMMAND starts COMMAND n times."""
import ctypes
import multiprocessing
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)


def role(name, pid=None):
    path = os.environ.get("CORPUS_ROLES")
    if path:
        with open(path, "a") as f:
            f.write("%s %d\n" % (name, pid or os.getpid()))


def with_parent():
    libc.prctl(1, signal.SIGKILL, 0, 0, 0)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(command, name, **kw):
    """A helper process of the job."""
    p = subprocess.Popen(command, preexec_fn=with_parent, **kw)
    role(name, p.pid)
    return p


def _by_command(n, command, arg):
    port, procs = free_port(), []
    for r in range(n):
        if arg:
            more, env = ["--rank", str(r), "--world", str(n), "--port", str(port)], None
        else:
            more = []
            env = dict(os.environ, RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE=str(n), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        procs.append(start(command + more, "rank%d" % r, env=env))
    codes = [p.wait() for p in procs]
    sys.exit(max(abs(c) for c in codes))


def _forked(body, r, n, port):
    with_parent()
    role("rank%d" % r)
    os.environ.update(RANK=str(r), WORLD_SIZE=str(n), MASTER_PORT=str(port))
    body(r, n, port)


def _by_fork(n, body):
    context, port = multiprocessing.get_context("fork"), free_port()
    procs = [context.Process(target=_forked, args=(body, r, n, port), name="trainer-%d" % r) for r in range(n)]
    for p in procs:
        p.start()
    for p in procs:
        p.join()
    sys.exit(max(abs(p.exitcode) for p in procs))


def main(n, body, how="env"):
    if how == "fork":
        role("launcher")
        _by_fork(n, body)
    if how == "env" and "RANK" in os.environ:
        return body(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(os.environ["MASTER_PORT"]))
    if how == "arg" and "--rank" in sys.argv:
        at = sys.argv.index("--rank")
        return body(int(sys.argv[at + 1]), int(sys.argv[at + 3]), int(sys.argv[at + 5]))
    role("launcher")
    _by_command(n, [sys.executable] + sys.argv, how == "arg")


def crunch(seconds):
    """One batch: some arithmetic, mostly waiting as for a device."""
    end, x = time.perf_counter() + seconds * 0.15, 1.0
    while time.perf_counter() < end:
        for k in range(200):
            x = x * 0.999 + k
    time.sleep(seconds * 0.85)
    return x


def compute(seconds):
    end, x = time.perf_counter() + seconds, 1.0
    while time.perf_counter() < end:
        for k in range(2000):
            x = x * 0.999 + k
    return x


def dial(port):
    for _ in range(600):
        try:
            s = socket.create_connection(("127.0.0.1", port))
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return s
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise SystemExit("no answer at port %d" % port)


def listen(port):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", port))
    s.listen(50)
    return s


def send(sock, thing):
    body = pickle.dumps(thing)
    sock.sendall(struct.pack("!I", len(body)) + body)


def read(sock, n):
    got = bytearray()
    while len(got) < n:
        part = sock.recv(n - len(got))
        if not part:
            raise EOFError("connection closed")
        got += part
    return bytes(got)


def receive(sock):
    return pickle.loads(read(sock, struct.unpack("!I", read(sock, 4))[0]))


class Hub:
    """Rank 0 adds up and sends back."""

    def __init__(self, rank, world, port):
        self.rank, self.world = rank, world
        if rank:
            self.up = dial(port)
            send(self.up, rank)
            return
        server, seats = listen(port), {}
        while len(seats) < world - 1:
            s, _ = server.accept()
            seats[receive(s)] = s
        self.seats = [seats[r] for r in sorted(seats)]

    def reduce(self, x):
        if self.rank:
            send(self.up, x)
            return receive(self.up)
        for s in self.seats:
            x += receive(s)
        for s in self.seats:
            send(s, x)
        return x


class Ring:
    def __init__(self, rank, world, port):
        self.rank, self.world = rank, world
        ports = [port + 1 + r for r in range(world)]
        server = listen(ports[rank])
        self.next = dial(ports[(rank + 1) % world])
        self.prev, _ = server.accept()

    def reduce(self, x):
        total = x
        for _ in range(self.world - 1):
            send(self.next, x)
            x = receive(self.prev)
            total += x
        return total


class Tree:
    """Binary tree: sums go up, the result comes down."""

    def __init__(self, rank, world, port):
        self.rank = rank
        kids = [k for k in (2 * rank + 1, 2 * rank + 2) if k < world]
        server = listen(port + 1 + rank)
        self.up = dial(port + 1 + (rank - 1) // 2) if rank else None
        self.down = [server.accept()[0] for _ in kids]

    def reduce(self, x):
        for s in self.down:
            x += receive(s)
        if self.up:
            send(self.up, x)
            x = receive(self.up)
        for s in self.down:
            send(s, x)
        return x


if __name__ == "__main__":
    role("launcher")
    words = sys.argv[1:]
    _by_command(int(words[0]), words[words.index("--") + 1:], "--arg" in words)
