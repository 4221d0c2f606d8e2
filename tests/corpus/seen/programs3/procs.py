"""Hangs between the processes of a job: pools, pipes, children, managers."""
import concurrent.futures
import multiprocessing as mp
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from kit3 import hang, kit, run, steps  # noqa: E402

FORK = mp.get_context("fork")


def default_term():
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def load(i):
    if i == 9:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.2)
    return i


@hang("u-pool-killed", "pool, a worker was killed", {"ranks": [0]}, r"kill|died|ended|lost|nobody", ranks=2,
      check={"rank0": "futex", "others": "recvfrom"}, forbid=[r"rank 1 (is|does|never)"])
def map_samples():
    """The kernel killed a worker of multiprocessing.Pool; its task's result never comes."""
    star = kit.Star()
    if kit.RANK == 0:
        with FORK.Pool(2, default_term) as pool:
            for i in pool.imap(load, range(100)):
                star.allreduce(1)
                kit.step(i)
    for i in range(100):
        star.allreduce(1)


@hang("u-join-before-get", "full pipe and join", {"cycle": ["rank0", "producer"]}, r"pipe|circle|each other|join|deadlock", ranks=2,
      check={"rank0": "wait4", "producer*": "write", "rank1": "recvfrom"})
def join_before_get():
    """join() before get(): the child cannot end before its queue's pipe is read."""
    star = kit.Star()
    for i in range(6):
        star.allreduce(1)
        kit.step(i)
        time.sleep(0.2)
    if kit.RANK == 0:
        q = FORK.Queue()

        def produce():
            default_term()
            kit.role("producer")
            q.put(b"x" * 1000000)
        p = FORK.Process(target=produce)
        p.start()
        p.join()
        q.get()
    star.allreduce(1)


def ask_license(port):
    s = kit.dial(port)
    s.sendall(b"HELLO tokenizer-pro 4\n")
    s.recv(100)


@hang("u-pool-license", "pool's initializer asks a licence server", {"outside": r"127\.0\.0\.1:\d+"}, r"server|answer|socket|tcp|recv|127",
      check={"rank0": "futex"})
def pool_license():
    """The initializer of a ProcessPoolExecutor asks a licence server that does not answer."""
    port = int(kit.outside(kit.mute_server))
    steps()
    with concurrent.futures.ProcessPoolExecutor(2, FORK, ask_license, (port,)) as pool:
        print(sum(pool.map(abs, range(10))), flush=True)


def open_labels(path):
    kit.role(f"worker{os.getpid()}")
    with open(path) as f:
        return f.read()


@hang("u-joblib-fifo", "joblib worker opens a FIFO", {"outside": r"labels\.fifo"}, r"fifo|labels|writer|pipe|open", needs=["joblib"],
      check={"rank0": "futex|nanosleep|poll|select|epoll"})
def joblib_fifo():
    """A joblib worker opens a FIFO that nobody writes."""
    import joblib
    steps()
    path = kit.tmp("labels.fifo")
    os.mkfifo(path)
    joblib.Parallel(n_jobs=2)(joblib.delayed(open_labels)(p) for p in ["/dev/null", path])


@hang("u-lock-holder-killed", "multiprocessing.Lock, holder killed", {"outside": r"\b(killed|dead|died|ended|gone|abandoned|nobody|no process)\b"},
      r"lock|semaphore", ranks=1, check={"worker1": "futex"})
def shared_lock():
    """A worker was killed inside `with lock`, the other and the main process wait for it."""
    lock = FORK.Lock()

    def worker(n):
        default_term()
        kit.role(f"worker{n}")
        while True:
            with lock:
                if n == 0:
                    time.sleep(2.5)
                    os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(0.1)
    for n in (0, 1):
        FORK.Process(target=worker, args=(n,), daemon=True).start()
    i = 0
    steps()
    while True:
        with lock:
            kit.step(i)
        i += 1
        time.sleep(0.2)


@hang("u-shm-writer-stopped", "poll of shared memory, the writer stopped", {"role": "writer"}, r"stop", check={"rank0": "nanosleep", "writer": "^T"})
def shm_writer_stopped():
    """The process that fills the shared buffer was stopped; the loop polls its flag every 10 ms."""
    flag = FORK.Value("i", 0, lock=False)

    def write():
        default_term()
        kit.role("writer")
        for i in range(8):
            flag.value = i
            time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGSTOP)
    FORK.Process(target=write, daemon=True).start()
    for i in range(100):
        while flag.value < i:
            time.sleep(0.01)
        kit.step(i)


@hang("u-manager-stopped", "Manager stopped", {"role": "manager", "of_rank": 1}, r"stop", ranks=3,
      check={"rank1": "read|recv", "manager": "^T", "others": "recvfrom"})
def manager_stopped():
    """The Manager process of rank 1 was stopped."""
    star = kit.Star()
    if kit.RANK == 1:
        m = FORK.Manager()
        d = m.dict()
        kit.role("manager", m._process.pid)
    for i in range(100):
        star.allreduce(1)
        kit.step(i)
        time.sleep(0.2)
        if kit.RANK == 1:
            if i == 6:
                os.kill(m._process.pid, signal.SIGSTOP)
            d["loss"] = i


@hang("u-eof-held", "pipe, another process holds the write end", {"role": "sidecar"}, r"pipe|end|open|holds|write", ranks=2,
      check={"rank0": "read", "others": "recvfrom"})
def eof_held():
    """rank 0 reads until the end of a decoder's output, but a sleeping sidecar has inherited the write end."""
    star = kit.Star()
    for i in range(6):
        star.allreduce(1)
        kit.step(i)
        time.sleep(0.2)
    if kit.RANK == 0:
        r, w = os.pipe()
        os.set_inheritable(w, True)
        p = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], close_fds=False)
        kit.role("sidecar", p.pid)
        subprocess.run(["sh", "-c", f"echo frame >&{w}"], close_fds=False)
        os.close(w)
        while os.read(r, 100):
            pass
    star.allreduce(1)


@hang("u-worker-barrier", "multiprocessing.Barrier, a worker waits elsewhere", {"role": "worker3"}, r"worker|pipe|recv|waits|barrier",
      check={"worker3": "read|poll", "worker0": "futex"})
def worker_barrier():
    """Three workers are in a barrier; the fourth waits for a file name that the parent has not sent, and the parent waits for it."""
    bar = FORK.Barrier(4)
    mine, theirs = FORK.Pipe()
    done = FORK.Queue()

    def work(n):
        default_term()
        kit.role(f"worker{n}")
        if n == 3:
            silent, _keep = FORK.Pipe()
            silent.recv()
        bar.wait()
        done.put(n)
    steps()
    ps = [FORK.Process(target=work, args=(n,), daemon=True) for n in range(4)]
    for p in ps:
        p.start()
    done.get()


@hang("u-fork-lock", "lock held at fork", {"role": "worker"}, r"fork|lock", ranks=2, check={"worker": "futex", "rank1": "recvfrom"})
def fork_lock():
    """A loader was forked while another thread of rank 0 held the cache's lock; its first sample never comes."""
    star, cache = kit.Star(), threading.Lock()

    def refresh():
        while True:
            with cache:
                time.sleep(0.2)
            time.sleep(0.001)
    threading.Thread(target=refresh, daemon=True, name="refresh").start()
    for i in range(6):
        star.allreduce(1)
        kit.step(i)
        time.sleep(0.3)
    if kit.RANK == 0:
        q = FORK.Queue()

        def worker():
            default_term()
            kit.role("worker")
            with cache:
                q.put(1)
        while not cache.locked():
            time.sleep(0.001)
        FORK.Process(target=worker, daemon=True).start()
        q.get()
    star.allreduce(1)


@hang("u-stderr-full", "child's stderr is full", {"cycle": ["rank1", "decoder"]}, r"pipe|circle|each other|full|write", ranks=3,
      check={"rank1": "read", "decoder": "write", "others": "recvfrom"})
def stderr_full():
    """rank 1 reads a decoder's stdout to its end before it reads stderr, which is full."""
    ring = kit.Ring()
    for i in range(6):
        ring.allreduce(1)
        kit.step(i)
        time.sleep(0.2)
    if kit.RANK == 1:
        p = subprocess.Popen(["sh", "-c", "echo $$; exec head -c 300000 /dev/zero 3>&1 >&2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        kit.role("decoder", p.pid)
        p.stdout.read()
    ring.allreduce(1)


@hang("u-zstd-stopped", "pipeline, its last program stopped", {"role": "zstd"}, r"stop", needs=["zstd"],
      check={"rank0": "wait4", "tar": "write", "zstd": "^T"})
def zstd_stopped():
    """`tar | zstd` saves a checkpoint; somebody stopped zstd."""
    steps()
    with open(kit.tmp("big"), "wb") as f:
        f.truncate(1 << 34)
    out = open(kit.tmp("ckpt.zst"), "wb")
    z = subprocess.Popen(["zstd", "-q", "-1"], stdin=subprocess.PIPE, stdout=out)
    kit.role("zstd", z.pid)
    os.kill(z.pid, signal.SIGSTOP)
    t = subprocess.Popen(["tar", "c", kit.tmp("big")], stdout=z.stdin, stderr=subprocess.DEVNULL)
    kit.role("tar", t.pid)
    z.stdin.close()
    t.wait()


@hang("u-ssh-password", "child asks for a password", {"role": "fetch"}, r"password|terminal|tty|input|stdin|person|prompt", ranks=2,
      check={"rank0": "wait4", "fetch": "read", "others": "recvfrom"})
def remote_copy():
    """rank 0 waits for a copy that asks for a password at a terminal nobody looks at."""
    star = kit.Star()
    for i in range(6):
        star.allreduce(1)
        kit.step(i)
        time.sleep(0.2)
    if kit.RANK == 0:
        master, slave = os.openpty()
        p = subprocess.Popen([sys.executable, "-c", "import getpass; getpass.getpass('data@store\\'s password: ')"], stdin=slave, stdout=slave,
                             stderr=slave, start_new_session=True)
        kit.role("fetch", p.pid)
        p.wait()
    star.allreduce(1)


@hang("u-wait-hook", "child that polls for a file", {"role": "hook"}, r"child|hook|sh\b|sleep|wait|process", ranks=2,
      check={"rank0": "wait4", "others": "recvfrom"})
def wait_hook():
    """rank 0 waits for a shell loop that waits for a file nobody makes."""
    star = kit.Star()
    for i in range(6):
        star.allreduce(1)
        kit.step(i)
        time.sleep(0.2)
    if kit.RANK == 0:
        p = subprocess.Popen(["sh", "-c", "until [ -e /nonexistent/upload.done ]; do sleep 1; done"])
        kit.role("hook", p.pid)
        p.wait()
    star.allreduce(1)


@hang("u-traced", "stopped under a debugger", {"ranks": [2]}, r"trac|debug|stop", ranks=3, check={"rank2": "^t", "others": "recvfrom"})
def traced():
    """A debugger has attached to rank 2 and left it standing."""
    star = kit.Star()
    if kit.RANK == 2:
        import ctypes
        me = os.getpid()
        ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1))

        def trace():
            libc = ctypes.CDLL(None)
            time.sleep(2)
            libc.ptrace(16, me, None, None)
            while True:
                signal.pause()
        kit.fork_child("tracer", trace)
    for i in range(1000):
        star.allreduce(1)
        kit.step(i)
        time.sleep(0.2)


@hang("u-eventfd", "eventfd", {"role": "helper"}, r"eventfd|helper|process|sleep|pause", check={"rank0": "read", "helper": "pause"})
def eventfd():
    """The helper that signals finished copies by an eventfd waits for a signal that nobody sends."""
    import ctypes
    fd = ctypes.CDLL(None).eventfd(0, 0)

    def copy():
        for _ in range(6):
            os.write(fd, (1).to_bytes(8, "little"))
            time.sleep(0.3)
        signal.pause()
    kit.fork_child("helper", copy)
    for i in range(100):
        os.read(fd, 8)
        kit.step(i)
        time.sleep(0.35)


@hang("u-rank-left", "file barrier, a rank has ended", {"ranks": [0]}, r"rank 0|ended|left|exit", ranks=3, gone=True, check={"rank1": "nanosleep", "rank2": "nanosleep"})
def rank_left():
    """rank 0 stopped early and ended with 0; the others look for its file of the next epoch."""
    for i in range(100):
        open(kit.tmp(f"e{i}.{kit.RANK}"), "w").close()
        while not all(os.path.exists(kit.tmp(f"e{i}.{r}")) for r in range(kit.WORLD)):
            time.sleep(0.05)
        kit.step(i)
        time.sleep(0.3)
        if kit.RANK == 0 and i == 6:
            return 0


if __name__ == "__main__":
    run()
