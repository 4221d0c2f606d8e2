"""Helpers shared by the programs of this half: roles, steps, launching of ranks, three small communicators."""
import os
import pickle
import queue
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

RANK = int(os.environ.get("RANK", "-1"))
WORLD = int(os.environ.get("WORLD_SIZE", "1"))


def role(name, pid=None):
    path = os.environ.get("CORPUS_ROLES")
    if path:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(fd, f"{name} {pid or os.getpid()}\n".encode())
        os.close(fd)


def secs(x):
    """Lengths of healthy pauses; CORPUS_SCALE=0.1 makes a quick trial of a long program."""
    return x * float(os.environ.get("CORPUS_SCALE", "1"))


def step(i, loss=None, flush=True):
    if loss is None:
        loss = 2.0 / (1 + i) + random.random() * 0.1
    print(f"step {i} loss {loss:.3f}", flush=flush)


def free_port():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
    s.close()
    return port


def tmp(name=""):
    return os.path.join(os.environ["JOB_TMP"], name)


def descendants(root):
    kids = {}
    for p in os.listdir("/proc"):
        if p.isdigit():
            try:
                with open(f"/proc/{p}/stat") as f:
                    kids.setdefault(int(f.read().rsplit(")", 1)[1].split()[1]), []).append(int(p))
            except OSError:
                pass
    out, todo = [], [root]
    while todo:
        for k in kids.get(todo.pop(), []):
            out.append(k)
            todo.append(k)
    return out


def end_tree():
    for p in descendants(os.getpid()):
        try:
            with open(f"/proc/{p}/cmdline") as f:
                if "resource_tracker" in f.read():     # it removes names and ends by itself
                    continue
            os.kill(p, signal.SIGKILL)
        except OSError:
            pass


def launch(n, argv, setup=None, inherit=False, rank_only=None):
    """Start n ranks of argv, wait for all; SIGTERM ends everything below."""
    d = tempfile.mkdtemp(prefix="job")
    os.environ["JOB_TMP"] = d
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(free_port())

    def leave(*_):
        end_tree()
        shutil.rmtree(d, ignore_errors=True)
        os._exit(143)

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)
    role("launcher")
    if setup:
        os.environ.update(setup() or {})
    if inherit:
        for fd in map(int, os.listdir("/proc/self/fd")):
            try:
                os.set_inheritable(fd, True)
            except OSError:
                pass
    procs = []
    for r in range(n):
        env = dict(os.environ, RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE=str(n), LOCAL_WORLD_SIZE=str(n))
        procs.append(subprocess.Popen(argv, env=env, close_fds=not inherit))
    bad = 0
    while procs:
        time.sleep(0.2)
        for p in list(procs):
            rc = p.poll()
            if rc is not None:
                procs.remove(p)
                if rc and not bad:
                    bad = rc
                    for q in procs:
                        q.terminate()
    end_tree()
    shutil.rmtree(d, ignore_errors=True)
    return bad if bad >= 0 else 128 - bad


def main(n, fn, setup=None, inherit=False):
    if "RANK" in os.environ:
        role(f"rank{RANK}")
        sys.exit(fn() or 0)
    sys.exit(launch(n, [sys.executable, *sys.argv], setup, inherit))


def fork_child(name, fn, *args):
    """A forked child: it has copies of every descriptor of its parent."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            role(name)
            fn(*args)
            code = 0
        finally:
            sys.stdout.flush()
            os._exit(code)
    return pid


def outside(fn, *args):
    """A server that is no part of the job: its own session, child of init; ends when the launcher has gone."""
    boss = os.getpid()
    r, w = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.close(r)

        def guard():
            while os.path.exists(f"/proc/{boss}"):
                time.sleep(1)
            os._exit(0)

        null = os.open("/dev/null", os.O_RDWR)
        for i in (0, 1, 2):
            os.dup2(null, i)
        threading.Thread(target=guard, daemon=True).start()
        role("far")
        fn(w, *args)
        os._exit(0)
    os.close(w)
    os.wait()
    text = os.read(r, 100).decode()
    os.close(r)
    return text


def mute_server(w, kind="accept"):
    """Accepts, reads, says nothing."""
    s = socket.create_server(("127.0.0.1", 0))
    os.write(w, str(s.getsockname()[1]).encode())
    os.close(w)
    kept = []
    while True:
        c, _ = s.accept()
        kept.append(c)
        threading.Thread(target=_swallow, args=(c,), daemon=True).start()


def _swallow(c):
    while c.recv(65536):
        pass


def services(k):
    """k live service threads: heartbeat, metrics, logging."""
    def heartbeat():
        n = 0
        while True:
            time.sleep(1)
            n += 1

    def metrics():
        wake = threading.Event()
        while True:
            wake.wait(1.0)
            with open("/proc/self/statm") as f:
                f.read()

    def log_writer(q):
        while True:
            q.get()

    if k > 0:
        threading.Thread(target=heartbeat, name="heartbeat", daemon=True).start()
    if k > 1:
        threading.Thread(target=metrics, name="metrics", daemon=True).start()
    if k > 2:
        q = queue.Queue()
        threading.Thread(target=log_writer, args=(q,), name="log", daemon=True).start()
        return q


_job_pipes = []


def idle_loaders(k):
    """k forked loaders that wait for work on a pipe from this rank; they hold copies of all its descriptors."""
    for i in range(k):
        r, w = os.pipe()

        def serve():
            os.close(w)
            for old in _job_pipes:
                os.close(old)
            while os.read(r, 1):
                pass

        fork_child(f"loader{RANK}_{i}", serve)
        os.close(r)
        _job_pipes.append(w)


def dial(port, host="127.0.0.1", tries=400):
    for _ in range(tries):
        try:
            return socket.create_connection((host, port))
        except OSError:
            time.sleep(0.05)
    raise SystemExit("no connection")


def send_msg(s, obj):
    data = pickle.dumps(obj)
    s.sendall(struct.pack("!I", len(data)) + data)


def read_exact(s, n):
    buf = b""
    while len(buf) < n:
        part = s.recv(n - len(buf))
        if not part:
            raise SystemExit("peer closed")
        buf += part
    return buf


def recv_msg(s):
    return pickle.loads(read_exact(s, struct.unpack("!I", read_exact(s, 4))[0]))


class Star:
    """Rank 0 gathers, adds and answers; TCP."""

    def __init__(self, port=None):
        port = port or int(os.environ["MASTER_PORT"])
        self.peers = {}
        if RANK == 0:
            srv = socket.create_server(("127.0.0.1", port))
            while len(self.peers) < WORLD - 1:
                c, _ = srv.accept()
                self.peers[recv_msg(c)] = c
            srv.close()
        else:
            self.up = dial(port)
            send_msg(self.up, RANK)

    def allreduce(self, x):
        if RANK == 0:
            total = x
            for r in sorted(self.peers):
                total += recv_msg(self.peers[r])
            for r in sorted(self.peers):
                send_msg(self.peers[r], total)
            return total
        send_msg(self.up, x)
        return recv_msg(self.up)

    def barrier(self):
        self.allreduce(0)


class Ring:
    """Each rank sends to the right and receives from the left; TCP, ports base+rank."""

    def __init__(self):
        base = tmp("port")
        srv = socket.create_server(("127.0.0.1", 0))
        with open(base + f".{RANK}.t", "w") as f:
            f.write(str(srv.getsockname()[1]))
        os.rename(base + f".{RANK}.t", base + f".{RANK}")
        nxt = (RANK + 1) % WORLD
        while not os.path.exists(base + f".{nxt}"):
            time.sleep(0.02)
        with open(base + f".{nxt}") as f:
            self.right = dial(int(f.read()))
        self.left, _ = srv.accept()
        srv.close()

    def allreduce(self, x):
        total = cur = x
        for _ in range(WORLD - 1):
            send_msg(self.right, cur)
            cur = recv_msg(self.left)
            total += cur
        return total

    barrier = lambda self: self.allreduce(0)


class Mesh:
    """A unix stream socket between each two ranks."""

    def __init__(self):
        self.to = {}
        srv = socket.socket(socket.AF_UNIX)
        srv.bind(tmp(f"m{RANK}"))
        srv.listen(16)
        for r in range(RANK):
            while True:
                s = socket.socket(socket.AF_UNIX)
                try:
                    s.connect(tmp(f"m{r}"))
                    break
                except OSError:
                    s.close()
                    time.sleep(0.05)
            send_msg(s, RANK)
            self.to[r] = s
        while len(self.to) < WORLD - 1:
            c, _ = srv.accept()
            self.to[recv_msg(c)] = c
        srv.close()

    def allreduce(self, x):
        for r in sorted(self.to):
            send_msg(self.to[r], x)
        return x + sum(recv_msg(self.to[r]) for r in sorted(self.to))

    barrier = lambda self: self.allreduce(0)
