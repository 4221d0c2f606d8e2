"""Small helpers of the corpus: start ranks, note roles, steps, messages, service threads.

As a program: kit.py --nproc N [--keep] -- CMD...   starts CMD N times as ranks (for C, Rust, Go, Node)."""
import ctypes
import logging
import os
import pickle
import queue
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_PTRACER = 1, 36, 0x59616D61
_libc = ctypes.CDLL(None, use_errno=True)


def role(name, pid=None):
    path = os.environ.get("CORPUS_ROLES")
    if path:
        with open(path, "a") as f:
            f.write("%s %d\n" % (name, pid or os.getpid()))


def die_with_parent():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def rank():
    return int(os.environ.get("RANK", "0"))


def world():
    return int(os.environ.get("WORLD_SIZE", "1"))


def port(k=0):
    return int(os.environ["MASTER_PORT"]) + k


def pick_port():
    while True:
        p = random.randrange(20000, 32000, 40)
        s = socket.socket()
        try:
            s.bind(("127.0.0.1", p))
            return p
        except OSError:
            pass
        finally:
            s.close()


def step(i, loss=None, flush=True):
    if loss is None:
        loss = 2.0 / (1 + i) + 0.01 * random.random()
    pre = "[rank%d] " % rank() if "RANK" in os.environ else ""
    print("%sstep %d loss %.3f" % (pre, i, loss), flush=flush)


def work(sec=0.25):
    t = time.time() + sec * 0.1
    x = 0.0
    while time.time() < t:
        x += sum(k * 0.5 for k in range(300))
    time.sleep(sec * 0.9)
    return x


def descendants(pid):
    kids = {}
    for d in os.listdir("/proc"):
        if d.isdigit():
            try:
                s = open("/proc/%s/stat" % d).read()
                kids.setdefault(int(s[s.rindex(")") + 2:].split()[1]), []).append(int(d))
            except OSError:
                pass
    out, todo = [], [pid]
    while todo:
        for c in kids.get(todo.pop(), []):
            out.append(c)
            todo.append(c)
    return out


def end_all():
    for sig in (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL):
        for p in descendants(os.getpid()):
            try:
                os.kill(p, sig)
            except OSError:
                pass
        if sig == signal.SIGTERM:
            time.sleep(0.15)


def launch(n, argv, keep=False, mesh=False, before=None, reaper=True):
    """Start n ranks, wait for all. keep: a rank that dies does not end the others."""
    def on_term(sig, frame):
        end_all()
        os._exit(143)
    signal.signal(signal.SIGTERM, on_term)
    signal.signal(signal.SIGINT, on_term)
    if reaper:
        _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    role("launcher")
    env = dict(os.environ, WORLD_SIZE=str(n), LOCAL_WORLD_SIZE=str(n),
               MASTER_ADDR="127.0.0.1", MASTER_PORT=str(pick_port()))
    if mesh:
        wires = {}
        for a in range(n):
            for b in range(a + 1, n):
                x, y = socket.socketpair()
                x.set_inheritable(True)
                y.set_inheritable(True)
                wires["%d-%d" % (a, b)] = x
                wires["%d-%d" % (b, a)] = y
        env["MESH"] = ",".join("%s=%d" % (k, v.fileno()) for k, v in wires.items())
    if before:
        os.environ["MASTER_PORT"] = env["MASTER_PORT"]
        before(env)
    procs = []
    for r in range(n):
        env["RANK"] = env["LOCAL_RANK"] = str(r)
        p = subprocess.Popen(argv, env=dict(env), close_fds=not mesh)
        role("rank%d" % r, p.pid)
        procs.append(p)
    left, bad = list(procs), 0
    while left:
        for p in list(left):
            rc = p.poll()
            if rc is not None:
                left.remove(p)
                if rc and not keep:
                    bad = rc if rc > 0 else 128 - rc
                    left = []
                    break
        time.sleep(0.2)
    end_all()
    sys.exit(bad)


def go(n, body, **kw):
    """Called by every program: the launcher without RANK, body() with it."""
    if "RANK" in os.environ:
        body()
        sys.stdout.flush()
        os._exit(0)
    launch(n, [sys.executable] + sys.argv, **kw)


def outside(serve):
    """Run serve(listening socket) in a process of its own session; ends when this one is gone. Returns port."""
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    me = os.getpid()
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        role("outside")
        s.listen(64)

        def watch():
            while os.path.exists("/proc/%d" % me):
                time.sleep(0.3)
            os._exit(0)
        threading.Thread(target=watch, daemon=True).start()
        serve(s)
        os._exit(0)
    os.wait()
    p = s.getsockname()[1]
    s.close()
    return p


def services(k=2):
    """k threads as real jobs have them."""
    lines = queue.Queue()

    def heartbeat():
        while True:
            time.sleep(1)

    def metrics():
        while True:
            open("/proc/self/statm").read()
            time.sleep(1.5)

    def logs():
        while True:
            try:
                lines.get(timeout=1)
            except queue.Empty:
                pass
    for f in (heartbeat, metrics, logs)[:k]:
        threading.Thread(target=f, name=f.__name__, daemon=True).start()
    return lines


def copies():
    """A monitor child that keeps copies of all descriptors and only sleeps."""
    pid = os.fork()
    if pid == 0:
        die_with_parent()
        role("mon%d" % rank())
        while True:
            time.sleep(1)
    return pid


def dial(p, tries=400):
    for _ in range(tries):
        try:
            s = socket.create_connection(("127.0.0.1", p))
            s.settimeout(None)
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return s
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise SystemExit("cannot reach port %d" % p)


def bind(p):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", p))
    s.listen(64)
    return s


def put(sock, obj):
    b = pickle.dumps(obj)
    sock.sendall(struct.pack("<I", len(b)) + b)


def exactly(sock, n):
    out = b""
    while len(out) < n:
        c = sock.recv(n - len(out))
        if not c:
            raise SystemExit("peer closed")
        out += c
    return out


def take(sock):
    return pickle.loads(exactly(sock, struct.unpack("<I", exactly(sock, 4))[0]))


class Star:
    """All-reduce over rank 0."""

    def __init__(self, k=0):
        self.r, self.n = rank(), world()
        if self.r == 0:
            s = bind(port(k))
            got = {}
            while len(got) < self.n - 1:
                c, _ = s.accept()
                got[take(c)] = c
            self.peers = [got[i] for i in range(1, self.n)]
            s.close()
        else:
            self.hub = dial(port(k))
            put(self.hub, self.r)

    def all_reduce(self, x):
        if self.r == 0:
            for p in self.peers:
                x += take(p)
            for p in self.peers:
                put(p, x)
            return x
        put(self.hub, x)
        return take(self.hub)


class Ring:
    def __init__(self, k=0):
        self.r, self.n = rank(), world()
        s = bind(port(k + 1 + self.r))
        self.right = dial(port(k + 1 + (self.r + 1) % self.n))
        self.left, _ = s.accept()
        s.close()

    def all_reduce(self, x):
        tot, cur = x, x
        for _ in range(self.n - 1):
            put(self.right, cur)
            cur = take(self.left)
            tot += cur
        return tot


class Mesh:
    """Socket pairs made by the launcher; every rank holds copies of all of them."""

    def __init__(self):
        self.r, self.n = rank(), world()
        self.to = {}
        for part in os.environ["MESH"].split(","):
            k, fd = part.split("=")
            a, b = k.split("-")
            if int(a) == self.r:
                self.to[int(b)] = socket.socket(fileno=int(fd))

    def all_reduce(self, x):
        for p in sorted(self.to):
            put(self.to[p], x)
        return x + sum(take(self.to[p]) for p in sorted(self.to))


if __name__ == "__main__":
    a = sys.argv[1:]
    launch(int(a[a.index("--nproc") + 1]), a[a.index("--") + 1:], keep="--keep" in a)
