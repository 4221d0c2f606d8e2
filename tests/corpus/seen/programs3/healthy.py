"""Healthy jobs that look as if nothing went on."""
import asyncio
import fcntl
import multiprocessing as mp
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
from kit3 import kit, quiet, run, steps, work  # noqa: E402

FORK = mp.get_context("fork")
LONG = 70


def first_steps(comm, n=6):
    for i in range(n):
        comm.allreduce(1)
        kit.step(i)
        time.sleep(0.3)


def default_term():
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


@quiet("u-validation", "others wait for a rank that works", 75, 3)
def validation():
    """rank 0 validates, the others wait in the barrier"""
    star = kit.Star()
    first_steps(star)
    if kit.RANK == 0:
        work(LONG)
    star.barrier()


@quiet("u-upload", "slow upload", 75, 2)
def upload():
    """rank 0 uploads a checkpoint through a throttled line"""
    star = kit.Star()
    first_steps(star)
    if kit.RANK == 0:
        a, b = socket.socketpair()
        a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)

        def line():
            a.close()
            default_term()
            while b.recv(4096):
                time.sleep(kit.secs(1.5))
        pid = kit.fork_child("line", line)
        b.close()
        end = time.time() + kit.secs(LONG - 10)
        while time.time() < end:
            a.sendall(b"x" * 4096)
        a.close()
        os.waitpid(pid, 0)
    star.barrier()


@quiet("u-compile", "child that works", 75)
def compile_kernels():
    """a compiler works, the job waits for it"""
    steps()
    subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__)) + '/..'!r}); import kit3; kit3.work({LONG})"])
    steps(2)


@quiet("u-download", "small steady flow", 80)
def download():
    """a mirror sends a kilobyte every five seconds"""
    a, b = socket.socketpair()

    def mirror():
        a.close()
        for _ in range(14):
            time.sleep(kit.secs(5))
            b.sendall(b"x" * 1024)
    steps()
    kit.fork_child("mirror", mirror)
    b.close()
    while a.recv(65536):
        pass
    steps(2)


@quiet("u-sleep-limit", "sleep", 75)
def sleep_limit():
    """the loop cools down between two phases, as its settings say"""
    steps()
    print(f"cooling down for {LONG} s", flush=True)
    time.sleep(kit.secs(LONG))
    steps(2)


@quiet("u-get-timeout", "queue with time limits", 75)
def get_timeout():
    """the loop asks with a time limit and goes on with old data"""
    q = queue.Queue()
    steps()

    def late():
        time.sleep(kit.secs(LONG))
        q.put(1)
    threading.Thread(target=late, daemon=True).start()
    while True:
        try:
            q.get(timeout=10)
            break
        except queue.Empty:
            pass
    steps(2)


@quiet("u-slow-rank", "ring waits for a slow rank", 80, 4)
def slow_rank():
    """rank 2 tokenizes a long document, the ring waits"""
    ring = kit.Ring()
    first_steps(ring)
    if kit.RANK == 2:
        work(LONG)
    ring.barrier()


@quiet("u-notebook", "idle kernel", 75, needs=["zmq"], mute=True)
def notebook():
    """a notebook's kernel waits for the next cell"""
    import zmq
    ctx = zmq.Context()
    s = ctx.socket(zmq.REP)
    s.bind("inproc://cell")

    def person():
        c = ctx.socket(zmq.REQ)
        c.connect("inproc://cell")
        for t in (2, LONG):
            time.sleep(kit.secs(t))
            c.send(b"cell")
            c.recv()
    threading.Thread(target=person, daemon=True).start()
    for _ in range(2):
        s.recv()
        s.send(b"ok")
    time.sleep(0.5)


@quiet("u-early-stop", "one rank is done, the others work", 75, 3)
def early_stop():
    """rank 1 has no data left and waits in the barrier; the others print steps"""
    star = kit.Star()
    if kit.RANK != 1:
        for i in range(int(kit.secs(LONG) / 2)):
            kit.step(i)
            time.sleep(2)
    star.barrier()


@quiet("u-rate-limit", "token bucket", 80)
def rate_limit():
    """one request per twelve seconds is allowed"""
    for i in range(6):
        kit.step(i)
        time.sleep(kit.secs(12))


@quiet("u-lr-finder", "long steps", 75, 2)
def lr_finder():
    """each trial of the rate takes half a minute of work"""
    star = kit.Star()
    first_steps(star)
    for _ in range(2):
        work(LONG / 2)
        star.allreduce(1)


@quiet("u-autotune", "children one after another", 80)
def autotune():
    """each candidate is timed in a process of its own"""
    steps()
    for _ in range(6):
        subprocess.run([sys.executable, "-c", f"import time; time.sleep({kit.secs(11)})"])
    steps(2)


@quiet("u-cron", "schedule", 80, 2)
def cron():
    """every 35 seconds new data is looked for"""
    star = kit.Star()
    first_steps(star)
    for i in range(2):
        time.sleep(kit.secs(35))
        star.allreduce(1)
        kit.step(10 + i)


@quiet("u-slow-trial", "child that works", 80)
def slow_trial():
    """the search waits for its slowest trial"""
    steps()

    def trial(s):
        default_term()
        work(s)
    ps = [FORK.Process(target=trial, args=(s,)) for s in (5, 10, LONG)]
    for p in ps:
        p.start()
    for p in ps:
        p.join()
    steps(2)


def job(i):
    time.sleep(kit.secs(17))
    return i


@quiet("u-pool-imap", "pool of simulators", 80)
def pool_imap():
    """a pool of external simulations, each of them seventeen seconds"""
    steps()
    with FORK.Pool(2, default_term) as pool:
        for i in pool.imap(job, range(8)):
            kit.step(i)


@quiet("u-asyncio-idle", "server without requests", 75)
def asyncio_idle():
    """an inference server answers its health check every twenty seconds"""
    async def serve():
        async def client(r, w):
            while await r.readline():
                w.write(b"ok\n")
            w.close()
        s = await asyncio.start_server(client, "127.0.0.1", 0)
        port = s.sockets[0].getsockname()[1]
        r, w = await asyncio.open_connection("127.0.0.1", port)
        print("serving", flush=True)
        for _ in range(4):
            await asyncio.sleep(kit.secs(18))
            w.write(b"health\n")
            await r.readline()
        w.close()
    asyncio.run(serve())


@quiet("u-long-poll", "long poll", 80, 2)
def long_poll():
    """rank 1 asks rank 0 for work, which answers `none` after 25 s"""
    port = int(os.environ["MASTER_PORT"])
    if kit.RANK == 0:
        srv = socket.create_server(("127.0.0.1", port))
        c, _ = srv.accept()
        while c.recv(100):
            time.sleep(kit.secs(25))
            c.sendall(b"none\n")
        return
    s = kit.dial(port)
    for i in range(3):
        s.sendall(b"work?\n")
        s.recv(100)
        kit.step(i)


@quiet("u-sqlite-busy", "sqlite's lock, the holder works", 80, 2)
def sqlite_busy():
    """rank 0 rebuilds an index in one transaction, rank 1 wants to write"""
    db = sqlite3.connect(kit.tmp("study.db"), timeout=1000, isolation_level=None)
    star = kit.Star()
    first_steps(star)
    if kit.RANK == 0:
        db.execute("create table t (x int)")
        db.execute("begin exclusive")
        star.barrier()
        work(LONG)
        db.execute("commit")
    else:
        star.barrier()
        db.execute("insert into t values (1)")
    star.barrier()


@quiet("u-flock-prepare", "flock, the holder works", 80, 3)
def flock_prepare():
    """rank 0 prepares the data set under the lock, the others wait for it"""
    star = kit.Star()
    first_steps(star)
    f = open(kit.tmp("data.lock"), "w")
    if kit.RANK == 0:
        fcntl.flock(f, fcntl.LOCK_EX)
        star.barrier()
        with open(kit.tmp("data"), "w") as d:
            for _ in range(14):
                work(5)
                d.write("x" * 4096)
                d.flush()
        fcntl.flock(f, fcntl.LOCK_UN)
    else:
        star.barrier()
        fcntl.flock(f, fcntl.LOCK_EX)
        fcntl.flock(f, fcntl.LOCK_UN)
    star.barrier()


@quiet("u-tar-slow", "slow pipe", 80, needs=["tar"])
def tar_slow():
    """tar writes to a slow disk"""
    steps()
    with open(kit.tmp("ckpt"), "wb") as f:
        f.truncate(36 * 65536)
    t = subprocess.Popen(["tar", "c", kit.tmp("ckpt")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while os.read(t.stdout.fileno(), 65536):
        time.sleep(kit.secs(2))
    t.wait()


@quiet("u-grpc-stream", "gRPC stream", 80, 2, needs=["grpc"])
def grpc_stream():
    """rank 0 streams a result every eighteen seconds"""
    import concurrent.futures
    import grpc
    port, done = os.environ["MASTER_PORT"], threading.Event()

    def results(request, context):
        for i in range(4):
            time.sleep(kit.secs(18))
            yield str(i).encode()
        done.set()
    if kit.RANK == 0:
        srv = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
        srv.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("ps", {"get": grpc.unary_stream_rpc_method_handler(results)}),))
        srv.add_insecure_port(f"127.0.0.1:{port}")
        srv.start()
        done.wait()
        time.sleep(2)
        return
    with grpc.insecure_channel(f"127.0.0.1:{port}") as ch:
        for i, _ in enumerate(ch.unary_stream("/ps/get")(b"", wait_for_ready=True)):
            kit.step(i)


@quiet("u-zmq-slow", "ZeroMQ, slow worker", 80, 2, needs=["zmq"])
def zmq_slow():
    """rank 1 takes a task each sixteen seconds, a simulation on another machine"""
    import zmq
    s = zmq.Context().socket(zmq.REP if kit.RANK == 0 else zmq.REQ)
    at = f"tcp://127.0.0.1:{os.environ['MASTER_PORT']}"
    s.bind(at) if kit.RANK == 0 else s.connect(at)
    for i in range(5):
        if kit.RANK == 0:
            s.recv()
            s.send(b"task")
        else:
            s.send(b"more")
            s.recv()
            time.sleep(kit.secs(15))
        kit.step(i)
    time.sleep(1)


@quiet("u-node-timer", "timer", 80, needs=["node"])
def node_timer():
    """a Node program that collects metrics every sixteen seconds"""
    steps()
    os.execvp("node", ["node", "-e", f"let n=0; const t=setInterval(() => {{ console.log('row', n); if (++n == 4) clearInterval(t) }}, {kit.secs(17000)})"])


@quiet("u-mpi-slow", "MPI rank that works", 80, needs=["mpirun", "mpi4py"])
def mpi_slow():
    """an MPI rank works while the other is in the barrier"""
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    code = f"import sys; sys.path.insert(0, {top!r}); import kit3; from mpi4py import MPI; c = MPI.COMM_WORLD\n" \
        f"for i in range(5): c.allreduce(1); kit3.kit.step(i)\nif c.rank: kit3.work({LONG})\nc.Barrier()"
    env = {k: v for k, v in os.environ.items() if k not in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")}
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    subprocess.run(["mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", "2", sys.executable, "-c", code], env=env, check=True)


@quiet("u-loader-slow", "loaders over shared memory", 80, 2)
def loader_slow():
    """two loaders decode a volume for twelve seconds each batch"""
    star = kit.Star()
    buf, free, full = FORK.Array("d", 1000, lock=False), FORK.Semaphore(1), FORK.Semaphore(0)

    def loader():
        default_term()
        while True:
            free.acquire()
            work(12, 0.1)
            buf[0] += 1
            full.release()
    FORK.Process(target=loader, daemon=True).start()
    for i in range(6):
        full.acquire()
        free.release()
        star.allreduce(buf[0])
        kit.step(i)


@quiet("u-retry-later", "a server asks for patience", 75)
def retry_later():
    """the store says `try again in 60 s`, and the client does"""
    steps()
    print("429: retry after 60 s", flush=True)
    time.sleep(kit.secs(66))
    steps(2)


if __name__ == "__main__":
    run()
