"""Hangs inside one process: threads, queues, locks, asyncio, signal handlers, imports."""
import asyncio
import concurrent.futures
import os
import queue
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from kit3 import hang, kit, run, steps  # noqa: E402


@hang("u-prefetch-died", "queue, producer thread ended", {"ranks": [0]}, r"queue|nobody|thread", proved=True, loud=True,
      check={"rank0": "futex"}, forbid=[r"rank 1\b"])
def prefetch_died():
    """The prefetch thread raised at a broken sample; the loop waits for the next batch."""
    q = queue.Queue(4)

    def fetch():
        for i in range(6):
            q.put(i)
        raise ValueError("cannot identify image file")
    threading.Thread(target=fetch, name="prefetch").start()
    i = 0
    while True:
        q.get()
        kit.step(i)
        i += 1
        time.sleep(0.3)


@hang("u-writer-died", "full queue, consumer thread ended", {"ranks": [1]}, r"queue|nobody|thread|full", ranks=3, loud=True,
      check={"rank1": "futex", "others": "recvfrom"})
def writer_died():
    """The thread that writes metrics has died, its queue is full, and rank 1 puts."""
    star, q = kit.Star(), queue.Queue(8)

    def metrics():
        for _ in range(3):
            q.get()
        raise OSError("disk quota exceeded")
    if kit.RANK == 1:
        threading.Thread(target=metrics, name="metrics").start()
    for i in range(100):
        star.allreduce(1)
        kit.step(i)
        if kit.RANK == 1:
            q.put({"loss": i})
        time.sleep(0.2)


@hang("u-notify-lost", "condition variable", {"ranks": [2]}, r"condition|wait|lock|notif|nobody", ranks=3,
      check={"rank2": "futex", "others": "recvfrom"})
def notify_lost():
    """notify() came before wait(): rank 2 waits for batches that are there."""
    star, cv, ready = kit.Star(), threading.Condition(), []

    def loader():
        with cv:
            ready.append(1)
            cv.notify()
        while True:
            time.sleep(1)
    for i in range(6):
        star.allreduce(1)
        kit.step(i)
        time.sleep(0.3)
    if kit.RANK == 2:
        threading.Thread(target=loader, name="loader", daemon=True).start()
        time.sleep(0.5)
        with cv:
            cv.wait()
    star.allreduce(1)


@hang("u-barrier-count", "threading.Barrier", {"ranks": [0]}, r"barrier|lock|condition|thread|wait", check={"rank0": "futex"})
def barrier_count():
    """Four threads meet in a barrier that was made for five."""
    b = threading.Barrier(5)
    steps()

    def stage():
        b.wait()
    ts = [threading.Thread(target=stage) for _ in range(4)]
    for t in ts:
        t.start()
    for t in ts:
        t.join()


@hang("u-lock-order", "two locks", {"ranks": [1]}, r"deadlock|lock|circle|cycle", ranks=3, proved=True,
      check={"rank1": "futex", "others": "recvfrom"})
def lock_order():
    """The checkpoint thread and the loop take two locks in opposite order."""
    ring, model, disk = kit.Ring(), threading.Lock(), threading.Lock()

    def saver():
        with disk:
            time.sleep(0.5)
            with model:
                pass
    for i in range(6):
        ring.allreduce(1)
        kit.step(i)
        time.sleep(0.2)
    if kit.RANK == 1:
        threading.Thread(target=saver, name="saver").start()
        time.sleep(0.1)
        with model:
            time.sleep(0.5)
            with disk:
                pass
    ring.allreduce(1)


@hang("u-semaphore-leak", "semaphore", {"ranks": [0]}, r"semaphore|lock|wait|permit|nobody", check={"rank0": "futex"}, loud=True)
def semaphore_leak():
    """Each failed request keeps its permit; when all are gone the loop waits for one."""
    sem = threading.Semaphore(5)
    i = 0
    while True:
        sem.acquire()
        kit.step(i)
        i += 1
        time.sleep(0.4)
        try:
            raise OSError("503")
        except OSError:
            continue        # the release is missing


@hang("u-executor-nested", "future of its own pool", {"ranks": [1]}, r"future|result|pool|executor|lock|wait", ranks=2,
      check={"rank1": "futex", "rank0": "recvfrom"})
def executor_nested():
    """A task of a pool with one thread waits for another task of the same pool."""
    star = kit.Star()
    pool = concurrent.futures.ThreadPoolExecutor(1)
    for i in range(6):
        star.allreduce(1)
        kit.step(i)
        time.sleep(0.3)
    if kit.RANK == 1:
        pool.submit(lambda: pool.submit(int).result()).result()
    star.allreduce(1)


@hang("u-signal-lock", "lock held by the interrupted code", {"ranks": [0]}, r"lock|signal|handler", check={"rank0": "futex"})
def signal_lock():
    """The handler of SIGALRM takes the lock that the interrupted code holds."""
    lock = threading.Lock()

    def save(*_):
        with lock:
            print("checkpoint", flush=True)
    signal.signal(signal.SIGALRM, save)
    steps()
    signal.alarm(1)
    with lock:
        t = time.time()
        while time.time() - t < 2:
            time.sleep(0.1)
    steps(100)


@hang("u-import-lock", "import lock", {"ranks": [0]}, r"import|lock|join|thread", check={"rank0": "futex"})
def import_lock():
    """A module joins, while it is imported, a thread that imports the same module."""
    d = tempfile.mkdtemp(dir=os.environ["JOB_TMP"])
    with open(d + "/plugin_a.py", "w") as f:
        f.write("import threading\ndef go():\n    import plugin_a\n    plugin_a.READY\n"
                "t = threading.Thread(target=go, name='register')\nt.start()\nt.join()\nREADY = 1\n")
    sys.path.insert(0, d)
    steps()
    import plugin_a  # noqa: F401


@hang("u-asyncio-lock", "asyncio lock and queue", {"ranks": [0]}, r"async|task|lock|queue|event loop|await", check={"rank0": "epoll"})
def asyncio_lock():
    """A task holds the lock while it awaits an item that only a task can put that wants the lock."""
    async def job():
        lock, q = asyncio.Lock(), asyncio.Queue()
        for i in range(6):
            kit.step(i)
            await asyncio.sleep(0.3)

        async def train():
            async with lock:
                await q.get()

        async def feed():
            await asyncio.sleep(0.2)
            async with lock:
                await q.put(1)
        await asyncio.gather(train(), feed())
    asyncio.run(job())


@hang("u-asyncio-server", "future nobody completes, in a server", {"ranks": [0]}, r"async|future|task|await|rank 0|server", ranks=3,
      check={"rank0": "epoll", "others": "recvfrom"})
def asyncio_server():
    """The server in rank 0 awaits a future that nobody completes before it answers the others."""
    port = int(os.environ["MASTER_PORT"])
    if kit.RANK == 0:
        async def serve():
            lost = asyncio.get_running_loop().create_future()
            n = 0

            async def client(r, w):
                nonlocal n
                while await r.readline():
                    n += 1
                    if n > 8:
                        await lost
                    w.write(b"ok\n")
            async with await asyncio.start_server(client, "127.0.0.1", port) as s:
                await s.serve_forever()
        asyncio.run(serve())
    s = kit.dial(port)
    for i in range(100):
        s.sendall(b"step\n")
        s.recv(100)
        kit.step(i)
        time.sleep(0.3)


@hang("u-sleep-for-ever", "sleep", {"ranks": [1]}, r"sleep", ranks=3, check={"rank1": "nanosleep", "others": "recvfrom"})
def sleep_for_ever():
    """Rank 1 went into the branch that keeps a failed node for a person to look at."""
    star = kit.Star()
    for i in range(8):
        star.allreduce(1)
        kit.step(i)
        time.sleep(0.2)
        if kit.RANK == 1 and i == 6:
            while True:
                time.sleep(3600)


@hang("u-stopped-rank", "stopped", {"ranks": [1]}, r"stop", ranks=3, check={"rank1": "^T", "others": "recvfrom"})
def stopped_rank():
    """Somebody has stopped rank 1."""
    ring = kit.Ring()
    for i in range(100):
        ring.allreduce(1)
        kit.step(i)
        time.sleep(0.2)
        if kit.RANK == 1 and i == 6:
            os.kill(os.getpid(), signal.SIGSTOP)


@hang("u-disk-full-retry", "retry loop", {"ranks": [0]}, r"space|full|retr|sleep|/dev/full", ranks=2,
      check={"rank0": "nanosleep", "others": "recvfrom"})
def disk_full_retry():
    """Saving fails with ENOSPC and is tried again every two seconds, without a word."""
    star = kit.Star()
    for i in range(6):
        star.allreduce(1)
        kit.step(i)
        time.sleep(0.3)
    while kit.RANK == 0:
        try:
            with open("/dev/full", "wb") as f:
                f.write(b"x" * 1000)
        except OSError:
            time.sleep(2)
    star.allreduce(1)


@hang("u-pdb", "breakpoint", {"ranks": [1]}, r"pdb|input|terminal|tty|stdin|debugg|person", ranks=2,
      check={"rank1": "read", "others": "recvfrom"})
def pdb_left():
    """A breakpoint() was left in; rank 1's standard input is a terminal at which nobody sits."""
    star = kit.Star()
    for i in range(6):
        star.allreduce(1)
        kit.step(i)
        time.sleep(0.3)
    if kit.RANK == 1:
        master, slave = os.openpty()
        os.dup2(slave, 0)
        sys.stdin = open(0)
        breakpoint()
    star.allreduce(1)


if __name__ == "__main__":
    run()
