"""Hangs at files, locks of files, servers and peers."""
import fcntl
import http.client
import http.server
import os
import queue
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from kit3 import hang, kit, run, steps, told  # noqa: E402


def hold_flock(w, path, stopped):
    f = open(path, "w")
    fcntl.flock(f, fcntl.LOCK_EX)
    os.write(w, b"1")
    os.close(w)
    while True:
        if stopped:
            os.kill(os.getpid(), signal.SIGSTOP)
        signal.pause()


@hang("u-flock-other-job", "flock, held by another job", {"role": "far"}, r"lock|far|hold", ranks=2, check={"rank0": "flock", "others": "recvfrom"})
def flock_other_job():
    """The cache's lock belongs to a process of another job that waits for a signal."""
    star = kit.Star()
    for i in range(6):
        star.allreduce(1)
        kit.step(i)
        time.sleep(0.2)
    if kit.RANK == 0:
        kit.outside(hold_flock, kit.tmp("hub.lock"), False)
        with open(kit.tmp("hub.lock")) as f:
            fcntl.flock(f, fcntl.LOCK_EX)
    star.allreduce(1)


def hold_lockf(w, path):
    f = open(path, "w")
    fcntl.lockf(f, fcntl.LOCK_EX)
    os.write(w, b"1")
    os.close(w)
    while True:
        os.kill(os.getpid(), signal.SIGSTOP)


@hang("u-lockf-stopped", "POSIX lock, holder stopped", {"role": "far"}, r"lock|stop", check={"rank0": "fcntl"})
def lockf_stopped():
    """The process with the POSIX lock on the data set's index was stopped."""
    steps()
    kit.outside(hold_lockf, kit.tmp("index"))
    with open(kit.tmp("index"), "w") as f:
        fcntl.lockf(f, fcntl.LOCK_EX)


@hang("u-flock-retry", "flock tried again and again", {"role": "far"}, r"lock|hold", check={"rank0": "nanosleep"})
def flock_retry():
    """filelock's way: LOCK_NB every 50 ms; the holder waits for a signal."""
    steps()
    kit.outside(hold_flock, kit.tmp("model.lock"), False)
    f = open(kit.tmp("model.lock"))
    while True:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError:
            time.sleep(0.05)


@hang("u-sqlite-writer", "sqlite's lock", {"ranks": [2]}, r"sqlite|study\.db|lock|fifo|gate|writer", ranks=3, check={"rank2": "openat", "rank0": "nanosleep"})
def sqlite_writer():
    """rank 2 opens a FIFO that nobody writes while it has the study's transaction; the others try to begin theirs."""
    db = sqlite3.connect(kit.tmp("study.db"), timeout=100000, isolation_level=None)
    db.execute("create table if not exists t (r int)")
    for i in range(20):
        db.execute("begin exclusive")
        db.execute("insert into t values (?)", (kit.RANK,))
        if kit.RANK == 2 and i == 8:
            os.mkfifo(kit.tmp("gate"))
            open(kit.tmp("gate")).read()
        db.execute("commit")
        kit.step(i)
        time.sleep(0.3)
    signal.pause()


@hang("u-stale-lockfile", "lock file of a process that is gone", {"outside": r"\.lock|locks/"}, r"lock|file|retry|sleep", check={"rank0": "nanosleep"})
def stale_lockfile():
    """The owner of a lock file crashed last week; its name is tried every half second."""
    steps()
    path = kit.tmp("extension.lock")
    open(path, "w").close()
    while True:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            time.sleep(0.5)


@hang("u-fifo-no-writer", "FIFO without a writer", {"outside": r"commands\.fifo"}, r"fifo|writer|open|commands", ranks=2,
      check={"rank0": "openat", "others": "recvfrom"})
def fifo_no_writer():
    """rank 0 opens a FIFO for commands; nobody has it open for writing."""
    star = kit.Star()
    for i in range(6):
        star.allreduce(1)
        kit.step(i)
        time.sleep(0.2)
    if kit.RANK == 0:
        os.mkfifo(kit.tmp("commands.fifo"))
        open(kit.tmp("commands.fifo")).read()
    star.allreduce(1)


@hang("u-http-mute", "HTTP answer", {"outside": r"127\.0\.0\.1:\d+"}, r"server|answer|socket|tcp|recv|127", ranks=2, check={"rank0": "recvfrom", "rank1": "recvfrom"},
      forbid=[r"rank 0 waits for rank 1", r"rank 1 waits for rank 0"])
def http_mute():
    """Both ranks fetch their parameters from a server that accepts and does not answer."""
    steps()
    c = http.client.HTTPConnection("127.0.0.1", int(os.environ["PS"]))
    c.request("GET", "/params")
    c.getresponse()


@hang("u-http-rank", "HTTP server in a rank waits for a push", {"ranks": [2]}, r"queue|nobody|rank 2", ranks=3, check={"rank2": "futex", "rank1": "recvfrom"})
def http_rank():
    """rank 0 answers GET when all gradients have come; rank 2 waits for a batch in an empty queue."""
    port = int(os.environ["MASTER_PORT"])
    if kit.RANK == 0:
        cv, got = threading.Condition(), {}

        class Serve(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                i = int(self.path[1:])
                with cv:
                    got[i] = got.get(i, 0) + 1
                    cv.notify_all()
                    cv.wait_for(lambda: got[i] == kit.WORLD)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *a):
                pass
        srv = http.server.ThreadingHTTPServer(("127.0.0.1", port), Serve)
        threading.Thread(target=srv.serve_forever, daemon=True).start()
    kit.dial(port).close()
    c = http.client.HTTPConnection("127.0.0.1", port)
    for i in range(100):
        if kit.RANK == 2 and i == 6:
            queue.Queue().get()
        c.request("GET", f"/{i}")
        c.getresponse().read()
        kit.step(i)
        time.sleep(0.2)


REDIS = r"""
import socket, threading, collections, sys
cv, lists = threading.Condition(), collections.defaultdict(list)
def serve(c):
    f = c.makefile("rwb")
    for line in f:
        op, key, *v = line.decode().split()
        with cv:
            if op == "RPUSH":
                lists[key].append(v[0]); cv.notify_all(); r = "1"
            else:
                cv.wait_for(lambda: lists[key]); r = lists[key].pop(0)
        f.write((r + "\n").encode()); f.flush()
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
"""


@hang("u-redis-stopped", "hand-made store, stopped", {"role": "store"}, r"stop", ranks=3, check={"store": "^T", "rank1": "recvfrom", "rank2": "recvfrom"})
def redis_stopped():
    """The store that hands out the tasks was stopped."""
    port = int(os.environ["MASTER_PORT"])
    p = None
    if kit.RANK == 0:
        p = subprocess.Popen([sys.executable, "-c", REDIS, str(port)])
        kit.role("store", p.pid)
    f = kit.dial(port).makefile("rwb")
    for i in range(1000):
        f.write((f"RPUSH t {i}\n" if kit.RANK == 0 else "BLPOP t\n").encode())
        f.flush()
        f.readline()
        kit.step(i)
        time.sleep(0.1)
        if kit.RANK == 0 and i == 30:
            os.kill(p.pid, signal.SIGSTOP)


@hang("u-grpc-one-thread", "gRPC server with one thread", {"ranks": [0]}, r"rank 0|grpc|event|lock|server|wait", ranks=3, needs=["grpc"],
      check={"rank0*": "futex"})
def grpc_one_thread():
    """rank 0's gRPC server has one thread; the first call waits for the second, which cannot begin."""
    import concurrent.futures
    import grpc
    port, here = os.environ["MASTER_PORT"], threading.Barrier(2)

    def sync(request, context):
        here.wait()
        return b"ok"
    if kit.RANK == 0:
        srv = grpc.server(concurrent.futures.ThreadPoolExecutor(1))
        srv.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("ps", {"sync": grpc.unary_unary_rpc_method_handler(sync)}),))
        srv.add_insecure_port(f"127.0.0.1:{port}")
        srv.start()
        srv.wait_for_termination()
    steps()
    call = grpc.insecure_channel(f"127.0.0.1:{port}").unary_unary("/ps/sync")
    call(b"grad", wait_for_ready=True)
    kit.step(99)


@hang("u-zmq-lost", "ZeroMQ request without answer", {"cycle": ["rank0", "rank1"]}, r"each other|circle|zmq|recv|deadlock|waits", ranks=2, needs=["zmq"],
      check={"rank0": "poll", "rank1": "poll"})
def zmq_lost():
    """rank 0 dropped a request it could not parse and waits for the next; rank 1 waits for the answer."""
    import zmq
    s = zmq.Context().socket(zmq.ROUTER if kit.RANK == 0 else zmq.REQ)
    at = "ipc://" + kit.tmp("ps")
    s.bind(at) if kit.RANK == 0 else s.connect(at)
    for i in range(100):
        if kit.RANK == 0:
            who, _, text = s.recv_multipart()
            while text == b"6":
                who, _, text = s.recv_multipart()
            s.send_multipart([who, b"", b"ok"])
        else:
            s.send(str(i).encode())
            s.recv()
        kit.step(i)
        time.sleep(0.2)


@hang("u-backlog-full", "connect", {"outside": r"127\.0\.0\.1:\d+"}, r"connect|server|answer|127", ranks=2, check={"rank0": "connect|poll|nanosleep"})
def backlog_full():
    """A data server that is too busy to accept; the client tries to connect for ever."""
    port = int(os.environ["PS"])
    steps()
    socks = []
    for _ in range(8):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(("127.0.0.1", port))
        socks.append(s)
    time.sleep(0.5)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port))
            time.sleep(3600)
        except OSError:
            time.sleep(1)


MPI = r"""
import sys, time
sys.path.insert(0, {top!r})
import kit
from mpi4py import MPI
import numpy as np
c = MPI.COMM_WORLD
kit.role(f"rank{{c.rank}}")
for i in range(6):
    c.allreduce(1)
    kit.step(i)
    time.sleep(.3)
{body}
"""
BODIES = {"u-mpi-ssend": "c.Ssend(np.zeros(10), (c.rank + 1) % c.size)",
          "u-mpi-tag": "c.recv(source=0, tag=7) if c.rank else (c.send(1, 1, tag=8), c.Recv(np.zeros(1), 1))"}


def mpi():
    code = MPI.format(top=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."), body=BODIES[sys.argv[1]])
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", PMIX_MCA_gds="hash")
    os.execvp("mpirun", ["mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", "2", sys.executable, "-c", code])


for _name, _about in (("u-mpi-ssend", "Both ranks send synchronously before they receive"), ("u-mpi-tag", "Tags differ; both receive")):
    told(_name, "hang", "MPI", _about, ["{python}", "{here}/programs3/places.py", _name],
         {"culprit": {"cycle": ["rank0", "rank1"]}, "why": ["each other|circle|deadlock|mpi|send|recv"], "proved": False}, needs=["mpirun", "mpi4py"],
         check={"rank0": "."}, cpu=[0, 3])


if __name__ == "__main__":
    if sys.argv[1] in BODIES:
        mpi()
    if "RANK" not in os.environ and sys.argv[1] == "u-http-mute":
        os.environ["PS"] = kit.outside(kit.mute_server)
    if "RANK" not in os.environ and sys.argv[1] == "u-backlog-full":
        def deaf(w):
            s = socket.socket()
            s.bind(("127.0.0.1", 0))
            s.listen(0)
            os.write(w, str(s.getsockname()[1]).encode())
            os.close(w)
            signal.pause()
        os.environ["PS"] = kit.outside(deaf)
    run()
