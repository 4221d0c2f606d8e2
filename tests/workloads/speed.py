"""Programs that something holds back, each also with the fix, and programs that nothing holds back.

    speed.py NAME [--fixed] [--for SECONDS]

Works in rounds until the time is up, then prints "NAME rounds/s". Rounds of the planted and of the fixed program do the
same work. tests/e2e/test_doctor_speed.py and bench/doctor.py run them.
"""
import argparse
import mmap
import multiprocessing
import os
import queue
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import zlib

FORK = multiprocessing.get_context("fork")
PROGRAMS, HEALTHY = {}, {}


def planted(f):
    PROGRAMS[f.__name__] = f
    return f


def healthy(f):
    HEALTHY[f.__name__] = f
    return f


def work(seconds):
    """Uses that much processor time, whoever else runs."""
    end, x = time.thread_time() + seconds, 0
    while time.thread_time() < end:
        for i in range(200):
            x += i * i
    return x


def rounds(seconds, one):
    """Rounds per second of one()."""
    begin, n = time.monotonic(), 0
    while time.monotonic() - begin < seconds:
        one()
        n += 1
    return n / (time.monotonic() - begin)


def counted(seconds, start):
    """Rounds per second of processes that count on their own: start(counter) gives the processes."""
    counter = FORK.Value("Q", 0)
    processes = start(counter)
    for p in processes:
        p.daemon = True
        p.start()
    begin = time.monotonic()
    for p in processes:
        p.join(max(0, seconds - (time.monotonic() - begin)))
    n = counter.value
    took = time.monotonic() - begin
    for p in processes:
        p.kill()
    return n / took


def spin_rounds(counter, seconds=0.02):
    while True:
        work(seconds)
        with counter.get_lock():
            counter.value += 1


# What is planted.


def matmul_rounds(counter, n):
    import numpy
    a = numpy.random.default_rng(1).random((n, n))
    while True:
        a @ a
        with counter.get_lock():
            counter.value += 1


@planted
def blas(fixed, seconds):
    """Four processes, each with a BLAS of eight threads, on few cores."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1" if fixed else "8"
    return counted(seconds, lambda c: [FORK.Process(target=matmul_rounds, args=(c, 300)) for _ in range(2 if fixed else 4)])


def stream_rounds(counter, fixed):
    import numpy
    a, b = numpy.ones((2, 1 << 23), "f4" if fixed else "f8")
    while True:
        numpy.add(a, b, out=a)
        with counter.get_lock():
            counter.value += 1


@planted
def stream(fixed, seconds):
    """A process for each processor that goes over more memory than caches hold; the fix is a type of half the size."""
    return counted(seconds, lambda c: [FORK.Process(target=stream_rounds, args=(c, fixed)) for _ in os.sched_getaffinity(0)])


@planted
def gil(fixed, seconds):
    """Two threads of pure Python."""
    counter = FORK.Value("Q", 0)
    if fixed:
        return counted(seconds, lambda c: [FORK.Process(target=spin_rounds, args=(c,)) for _ in range(2)])
    begin = time.monotonic()
    done = [0, 0]

    def one(i):
        while time.monotonic() - begin < seconds:
            x = 0
            for k in range(60000):
                x += k * k
            done[i] += 1
    threads = [threading.Thread(target=one, args=(i,)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    del counter
    return sum(done) / (time.monotonic() - begin)


def gil_rounds(counter):
    while True:
        x = 0
        for k in range(60000):
            x += k * k
        with counter.get_lock():
            counter.value += 1


def gil_fixed(seconds):
    return counted(seconds, lambda c: [FORK.Process(target=gil_rounds, args=(c,)) for _ in range(2)])


def serve(inbox, outbox):
    while True:
        outbox.put(work(inbox.get()))


@planted
def one_worker(fixed, seconds):
    """Three workers, of which one is given all the tasks."""
    outbox = FORK.SimpleQueue()
    inbox = [FORK.SimpleQueue() for _ in range(2)]
    for q in inbox:
        FORK.Process(target=serve, args=(q, outbox), daemon=True).start()

    def one():
        for i in range(4):
            inbox[i % 2 if fixed else 0].put(0.03)
        for _ in range(4):
            outbox.get()
    return rounds(seconds, one)


@planted
def late_worker(fixed, seconds):
    """One worker of two has all the tasks, and both start while the doctor watches already."""
    time.sleep(2)
    return one_worker(fixed, seconds)


def tiny_task(x):
    s = 0
    for i in range(300):
        s += i * x
    return s


@planted
def tiny(fixed, seconds):
    """A pool with tasks of some microseconds, handed out one by one."""
    with FORK.Pool(2) as pool:
        return rounds(seconds, lambda: sum(pool.imap_unordered(tiny_task, range(2000), chunksize=500 if fixed else 1)))


@planted
def uneven(fixed, seconds):
    """Rounds of one long and some short tasks; who is done waits for the long one."""
    lengths = [0.30, 0.05, 0.05]
    with FORK.Pool(2) as pool:
        if not fixed:
            return rounds(seconds, lambda: pool.map(work, lengths, chunksize=1))
        begin, n = time.monotonic(), 0
        def endless():
            while time.monotonic() - begin < seconds:
                yield from lengths
        # A round is its tasks; results are taken as they come, and the next tasks do not wait.
        gate = threading.Semaphore(8)
        def gated():
            for x in endless():
                gate.acquire()
                yield x
        for _ in pool.imap_unordered(work, gated()):
            gate.release()
            n += 1
        return n / len(lengths) / (time.monotonic() - begin)


@planted
def poll(fixed, seconds):
    """Waits for a worker by looking every 0.25 s."""
    inbox, outbox = FORK.SimpleQueue(), FORK.SimpleQueue()
    FORK.Process(target=serve, args=(inbox, outbox), daemon=True).start()

    def one():
        work(0.01)
        inbox.put(0.03)
        while not fixed and outbox.empty():
            time.sleep(0.25)
        outbox.get()
    return rounds(seconds, one)


@planted
def asks(fixed, seconds):
    """Hands work to a process per processor, and asks without a pause whether it is done."""
    ends = []
    for _ in os.sched_getaffinity(0):
        ours, theirs = FORK.Pipe()
        FORK.Process(target=answer, args=(theirs,), daemon=True).start()
        ready = select.poll()
        ready.register(ours, select.POLLIN)
        ends.append((ours, ready))

    def one():
        for c, _ in ends:
            c.send(0.05)
        for c, ready in ends:
            while not fixed and not ready.poll(0):
                pass
            c.recv()
    return rounds(seconds, one)


def answer(end):
    while True:
        work(end.recv())
        end.send(None)


@planted
def cpuset(fixed, seconds):
    """Two busy processes that may use one processor."""
    if not fixed:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    return counted(seconds, lambda c: [FORK.Process(target=spin_rounds, args=(c,)) for _ in range(2)])


def load_batches(outbox, seconds):
    while True:
        work(seconds)
        outbox.put(b"x" * 1000)


def loader_program(workers, load_s, compute_s, seconds):
    outbox = FORK.Queue(4)
    for _ in range(workers):
        FORK.Process(target=load_batches, args=(outbox, load_s), daemon=True, name="loader").start()

    def one():
        outbox.get()
        work(compute_s)
    return rounds(seconds, one)


@planted
def loader(fixed, seconds):
    """Computes for 10 ms on what a loader needs 40 ms for."""
    return loader_program(2 if fixed else 1, 0.04, 0.01, seconds)


@planted
def lock(fixed, seconds):
    """Two threads that release the GIL but hold one lock around all their work."""
    import hashlib
    data, one_lock = b"x" * 4_000_000, threading.Lock()
    done, begin = [0, 0], time.monotonic()

    def run(i):
        while time.monotonic() - begin < seconds:
            if fixed:
                hashlib.sha256(data).digest()
            else:
                with one_lock:
                    hashlib.sha256(data).digest()
            done[i] += 1
    threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return sum(done) / (time.monotonic() - begin)


@planted
def serial(fixed, seconds):
    """A step in the main process between each two rounds of a pool."""
    with FORK.Pool(2) as pool:
        def one():
            if fixed:
                pool.map(work, [0.05] * 4, chunksize=1)
            else:
                work(0.1)
                pool.map(work, [0.05] * 2, chunksize=1)
        return rounds(seconds, one)


@planted
def faults(fixed, seconds):
    """Makes and frees a large array in each step."""
    import numpy
    a = numpy.ones(48_000_000, dtype=numpy.uint8)
    out = numpy.empty_like(a)

    def one():
        for _ in range(4):
            if fixed:
                numpy.add(a, 1, out=out)
            else:
                numpy.add(a, 1)
    return rounds(seconds, one)


@planted
def fsync(fixed, seconds):
    """Waits for the disk after each small record."""
    with tempfile.TemporaryFile(dir=os.environ.get("SPEED_DIR", ".")) as f:
        def one():
            for _ in range(5):
                work(0.001)
                f.write(b"x" * 4096)
                f.flush()
                if not fixed:
                    os.fsync(f.fileno())
        return rounds(seconds, one)


@planted
def stopped(fixed, seconds):
    """A stopped process. The one who runs it sends SIGSTOP."""
    return rounds(seconds, lambda: work(0.02))


@planted
def quota(fixed, seconds):
    """One busy process. The one who runs it sets the quota."""
    return rounds(seconds, lambda: work(0.02))


@planted
def memory_fit(fixed, seconds):
    """Workers that each hold a lot. The one who runs it sets a limit of 512 MiB."""
    def hold(counter):
        held = bytearray(os.urandom(1)) * (110 << 20)
        spin_rounds(counter)
        del held
    return counted(seconds, lambda c: [FORK.Process(target=hold, args=(c,)) for _ in range(2 if fixed else 4)])


@planted
def process_lock(fixed, seconds):
    """Two processes that hold one lock around nearly all their work."""
    one_lock = FORK.Lock()

    def locked(counter):
        while True:
            if fixed:
                work(0.02)
            else:
                with one_lock:
                    work(0.02)
            work(0.001)
            with counter.get_lock():
                counter.value += 1
    return counted(seconds, lambda c: [FORK.Process(target=locked, args=(c,)) for _ in range(2)])


@planted
def poll_thread(fixed, seconds):
    """Looks every 0.25 s whether a thread is done."""
    inbox, outbox = queue.SimpleQueue(), queue.SimpleQueue()
    threading.Thread(target=serve, args=(inbox, outbox), daemon=True).start()

    def one():
        work(0.01)
        inbox.put(0.03)
        while not fixed and outbox.empty():
            time.sleep(0.25)
        outbox.get()
    return rounds(seconds, one)


@planted
def each_waits(fixed, seconds):
    """Hands out a task and waits for it before the next."""
    with FORK.Pool(2) as pool:
        def one():
            if fixed:
                pool.map(work, [0.03] * 4, chunksize=1)
            else:
                for _ in range(4):
                    pool.apply(work, (0.03,))
        return rounds(seconds, one)


@planted
def neighbour(fixed, seconds):
    """One busy process on one processor. The one who runs it lets another program use the same, but for the fixed one."""
    del fixed
    return compute(seconds)


def records(folder, n, size):
    f = tempfile.TemporaryFile(dir=folder)
    for _ in range(n):
        f.write(os.urandom(size))
    f.flush()
    os.fsync(f.fileno())
    return f


@planted
def cold_reads(fixed, seconds):
    """Reads its records from the disk each time, one after the other. The one who runs it has a slow disk."""
    with records(os.environ.get("SPEED_DIR", "."), 64, 65536) as f:
        def one():
            for i in range(8):
                if not fixed:
                    os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                os.pread(f.fileno(), 65536, i * 7 % 64 * 65536)
                work(0.004)
        return rounds(seconds, one)


def take_slowly(end):
    while True:
        os.read(end, 4096)
        time.sleep(0.01)


@planted
def output(fixed, seconds):
    """Writes more than the one who reads it takes."""
    taken, given = os.pipe()
    FORK.Process(target=take_slowly, args=(taken,), daemon=True).start()
    n = [0]

    def one():
        work(0.003)
        n[0] += 1
        if not fixed or n[0] % 10 == 0:
            os.write(given, b"x" * 4096)
    return rounds(seconds, one)


@planted
def small_io(fixed, seconds):
    """Reads a file in pieces of 16 bytes, each by a call of the kernel."""
    with tempfile.NamedTemporaryFile(dir=os.environ.get("SPEED_DIR", ".")) as f:
        f.write(b"x" * 1_600_000)
        f.flush()
        with open(f.name, "rb", buffering=1 << 20 if fixed else 0) as pieces:
            def one():
                pieces.seek(0)
                while pieces.read(16):
                    pass
            return rounds(seconds, one)


@planted
def process_each(fixed, seconds):
    """Starts a program for each small task."""
    def one():
        for _ in range(1 if fixed else 10):
            n = 3000 if fixed else 300
            subprocess.run(["/bin/sh", "-c", f"i=0; while [ $i -lt {n} ]; do i=$((i+1)); done"], check=True)
    return rounds(seconds, one)


KEPT = []


def sum_of(block):
    return zlib.crc32(block)


def sum_of_kept(i):
    return sum_of(KEPT[i])


@planted
def big_args(fixed, seconds):
    """Hands each worker the data itself, 8 MB for a task of some milliseconds, where it could name it."""
    KEPT.extend(os.urandom(8_000_000) for _ in range(8))
    with FORK.Pool(2) as pool:
        def one():
            if fixed:
                pool.map(sum_of_kept, range(8), chunksize=1)
            else:
                pool.map(sum_of, KEPT, chunksize=1)
        return rounds(seconds, one)


@planted
def uneven_ranks(fixed, seconds):
    """Two ranks that meet after each step, of which one has four times as much to do."""
    meet = FORK.Barrier(2)

    def rank(counter, length):
        while True:
            work(length)
            meet.wait()
            with counter.get_lock():
                counter.value += 1
    lengths = (0.05, 0.05) if fixed else (0.08, 0.02)
    return counted(seconds, lambda c: [FORK.Process(target=rank, args=(c, x)) for x in lengths])


@planted
def thrash(fixed, seconds):
    """Goes through a file in memory that does not fit into its limit. The one who runs it sets one of 96 MiB."""
    size = (32 if fixed else 160) << 20
    with records(os.environ.get("SPEED_DIR", "."), size >> 20, 1 << 20) as f, \
            mmap.mmap(f.fileno(), size, prot=mmap.PROT_READ) as m:
        at = [0]

        def one():
            for _ in range(100):
                at[0] = (at[0] + 4096 * 997) % size
                m[at[0]]
            work(0.0005)
        return rounds(seconds, one)


@planted
def gil_loader(fixed, seconds):
    """A thread that prepares data in Python beside the one that computes in Python."""
    if fixed:
        return loader_program(1, 0.03, 0.03, seconds)
    outbox = queue.Queue(4)

    def load():
        while True:
            work(0.03)
            outbox.put(b"x" * 1000)
    threading.Thread(target=load, daemon=True).start()

    def one():
        outbox.get()
        work(0.03)
    return rounds(seconds, one)


def torch_loader(seconds, item_s, compute_s, workers):
    """Trains on what PyTorch's DataLoader gives."""
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Items(Dataset):
        def __len__(self):
            return 1_000_000

        def __getitem__(self, i):
            work(item_s)
            return torch.zeros(8)
    torch.set_num_threads(1)
    batches = iter(DataLoader(Items(), batch_size=4, num_workers=workers))
    print("torch is loaded", flush=True)

    def one():
        next(batches)
        work(compute_s)
    return rounds(seconds, one)


@planted
def loader_in_main(fixed, seconds):
    """A DataLoader without workers, whose items take three quarters of the training's time."""
    return torch_loader(seconds, 0.0075, 0.04, 1 if fixed else 0)


@planted
def loader_restarts(fixed, seconds):
    """A DataLoader whose workers are started anew in each of its short epochs."""
    return torch_epochs(seconds, fixed)


def torch_epochs(seconds, persistent):
    import torch
    from torch.utils.data import DataLoader, Dataset
    torch.set_num_threads(1)

    class Items(Dataset):
        def __len__(self):
            return 16

        def __getitem__(self, i):
            work(0.001)
            return torch.zeros(8)
    warnings.simplefilter("ignore")  # four are more than there are processors
    loader = DataLoader(Items(), batch_size=4, num_workers=4, persistent_workers=persistent)
    print("torch is loaded", flush=True)

    def one():
        for _ in loader:
            work(0.01)
    return rounds(seconds, one)


@planted
def slower(fixed, seconds):
    """Prints steps that take longer and longer."""
    begin, step = time.monotonic(), 0
    while time.monotonic() - begin < seconds:
        age = time.monotonic() - begin
        work(0.02 if fixed else min(0.02 + max(0, age - 4) * 0.03, 0.3))
        step += 1
        print(f"step {step} loss 0.5", flush=True)
    return step / (time.monotonic() - begin)


@planted
def nan_loss(fixed, seconds):
    """Goes on training with a loss that is no number."""
    begin, step = time.monotonic(), 0
    while time.monotonic() - begin < seconds:
        work(0.05)
        step += 1
        print(f"step {step} loss {0.5 if fixed or step < 10 else float('nan')}", flush=True)
    return step / (time.monotonic() - begin)


# What nothing holds back.


@healthy
def compute(seconds):
    return rounds(seconds, lambda: work(0.02))


@healthy
def two_processes(seconds):
    return counted(seconds, lambda c: [FORK.Process(target=spin_rounds, args=(c,)) for _ in range(2)])


@healthy
def numpy_alone(seconds):
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import numpy
    a = numpy.random.default_rng(1).random((400, 400))
    return rounds(seconds, lambda: a @ a)


@healthy
def numpy_threads(seconds):
    os.environ["OPENBLAS_NUM_THREADS"] = "2"
    import numpy
    a = numpy.random.default_rng(1).random((1200, 1200))
    return rounds(seconds, lambda: a @ a)


@healthy
def sleeping(seconds):
    print("asleep", flush=True)
    return time.sleep(seconds) or 0


@healthy
def cron(seconds):
    """Looks twice a second whether there is something to do."""
    return rounds(seconds, lambda: time.sleep(0.5))


@healthy
def idle_server(seconds):
    s = socket.create_server(("127.0.0.1", 0))
    s.settimeout(seconds)
    try:
        s.accept()
    except TimeoutError:
        pass
    return 0


@healthy
def thread_server(seconds):
    """Ten threads that wait for connections, and a client that asks now and then."""
    s = socket.create_server(("127.0.0.1", 0))

    def answer():
        while True:
            c, _ = s.accept()
            with c:
                c.sendall(c.recv(100))
    for _ in range(10):
        threading.Thread(target=answer, daemon=True).start()

    def ask():
        with socket.create_connection(s.getsockname()) as c:
            c.sendall(b"hello")
            c.recv(100)
        time.sleep(0.05)
    return rounds(seconds, ask)


@healthy
def many_threads(seconds):
    """Two hundred threads, of which two hash and the others wait for work."""
    work_to_do = queue.SimpleQueue()
    for _ in range(198):
        threading.Thread(target=work_to_do.get, daemon=True).start()
    return hash_threads(seconds)


@healthy
def pool_even(seconds):
    with FORK.Pool(2) as pool:
        return rounds(seconds, lambda: pool.map(work, [0.05] * 20, chunksize=1))


@healthy
def late_pool(seconds):
    """A pool that starts while the doctor watches already."""
    time.sleep(2)
    return pool_even(seconds)


@healthy
def loader_ahead(seconds):
    """Computes for 40 ms on what two loaders need 10 ms for."""
    return loader_program(2, 0.01, 0.04, seconds)


@healthy
def loader_in_main_fast(seconds):
    """A DataLoader without workers, whose items are cheap."""
    return torch_loader(seconds, 0.0002, 0.04, 0)


@healthy
def loader_epochs(seconds):
    """A DataLoader whose workers stay from epoch to epoch."""
    return torch_epochs(seconds, True)


@healthy
def hash_threads(seconds):
    """Two threads that release the GIL."""
    return lock(True, seconds)


@healthy
def pipeline(seconds):
    """Two stages of equal length."""
    inbox, outbox = FORK.Queue(4), FORK.SimpleQueue()

    def stage():
        while True:
            work(inbox.get())
    FORK.Process(target=stage, daemon=True).start()
    del outbox

    def one():
        work(0.03)
        inbox.put(0.03)
    return rounds(seconds, one)


@healthy
def barrier(seconds):
    """Two ranks that meet after each step."""
    meet = FORK.Barrier(2)

    def rank(counter):
        while True:
            work(0.05)
            meet.wait()
            with counter.get_lock():
                counter.value += 1
    return counted(seconds, lambda c: [FORK.Process(target=rank, args=(c,)) for _ in range(2)])


@healthy
def child(seconds):
    """Waits for a program that works."""
    subprocess.run(["/usr/bin/timeout", str(seconds), "sh", "-c", "while :; do :; done"], check=False)
    return 0


@healthy
def event_loop(seconds):
    import asyncio

    async def main():
        async def tick():
            while True:
                await asyncio.sleep(0.02)
                work(0.001)
        tasks = [asyncio.create_task(tick()) for _ in range(5)]
        await asyncio.sleep(seconds)
        for t in tasks:
            t.cancel()
    asyncio.run(main())
    return 0


@healthy
def looks_meanwhile(seconds):
    """Asks between pieces of its own work whether a message has come."""
    ours, _theirs = FORK.Pipe()

    def one():
        work(0.0005)
        ours.poll(0)
    return rounds(seconds, one)


@healthy
def cooperative(seconds):
    """Coroutines that compute in small pieces and let the others go on after each."""
    import asyncio

    async def main():
        end = time.monotonic() + seconds

        async def one():
            while time.monotonic() < end:
                sum(range(500))
                await asyncio.sleep(0)
        await asyncio.gather(one(), one())
    asyncio.run(main())
    return 0


@healthy
def busy_loop(seconds):
    """A loop that never rests, as there is always something to pass on."""
    a, b = socket.socketpair()
    ready = select.poll()
    ready.register(a, select.POLLIN)
    b.send(b"x" * 100)

    def one():
        for _, _event in ready.poll(0):
            b.send(a.recv(100))
    return rounds(seconds, one)


@healthy
def writer(seconds):
    """Writes a file through the cache and computes."""
    with tempfile.TemporaryFile(dir=os.environ.get("SPEED_DIR", ".")) as f:
        def one():
            f.seek(0)
            f.write(b"x" * 100_000)
            work(0.02)
        return rounds(seconds, one)


@healthy
def idle_pool(seconds):
    """A pool that was used once and a main process that computes."""
    with FORK.Pool(2) as pool:
        pool.map(work, [0.01] * 4)
        return rounds(seconds, lambda: work(0.02))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("name", choices=[*PROGRAMS, *HEALTHY])
    p.add_argument("--fixed", action="store_true")
    p.add_argument("--for", dest="seconds", type=float, default=30)
    a = p.parse_args()
    if a.name in HEALTHY:
        rate = HEALTHY[a.name](a.seconds)
    elif a.name == "gil" and a.fixed:
        rate = gil_fixed(a.seconds)
    else:
        rate = PROGRAMS[a.name](a.fixed, a.seconds)
    print(f"{a.name} {rate:.3f}", flush=True)


if __name__ == "__main__":
    main()
