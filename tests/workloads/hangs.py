"""A training job that comes to a standstill: hangs.py WHAT [--culprit R] [--at STEP] [--steps N] [--helper LIB]

Each rank does steps and meets the others after each, by the stand-in for torch.distributed beside this file. At the
step --at the culprit (all ranks, for some) does WHAT. `--spawn N` starts N ranks as a careless launcher does: waits for
one of them alone. `--by` starts them as people do out of Python: nothing that can be seen from outside says which is which. What hangs, hangs for ever; what is benign lasts for --last seconds, then the job goes on to its end.
"""
import argparse
import atexit
import contextlib
import ctypes
import http.client
import mmap
import multiprocessing
import os
import pathlib
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "standin"))
import torch.distributed as dist  # noqa: E402
from torch.distributed.elastic.multiprocessing.errors import record  # noqa: E402
from moxing.framework import file as mox  # noqa: E402
from torch.nn import SyncBatchNorm  # noqa: E402
from torch.serialization import save  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402
from torch.utils.tensorboard import SummaryWriter  # noqa: E402

LIBC = ctypes.PyDLL(None)  # calls hold the interpreter's lock


class Job:
    def __init__(self, args):
        self.args = args
        self.rank, self.world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.end = None

    # What hangs: the culprit alone does it, the others wait for it ---------------------------------------------

    def lock(self):
        lock = threading.Lock()
        lock.acquire()
        if self.args.kept:
            threading.Thread(target=lambda mine: time.sleep(3600), args=(lock,), daemon=True).start()
        lock.acquire()

    def licence(self):
        """Stands in something of the user's own, which only a rule of the user's own can name."""
        self.wait_for_licence(socket.socketpair())

    def wait_for_licence(self, server):
        server[0].recv(1)

    def poll(self):
        """Asks for something that never comes, some time apart that only a variable says."""
        gap = self.args.gap
        while not os.path.exists("/nonexistent/go"):
            time.sleep(gap)

    def stop(self):
        os.kill(os.getpid(), signal.SIGSTOP)

    def gone(self):
        os._exit(0)

    def killed(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def store(self):
        """Rank 0, at which the others ask for each other, is killed: they say so, and ask on."""
        self.killed()

    def gil(self):
        threading.Thread(target=self.spin, daemon=True, name="wants to run").start()
        LIBC.pause()

    def spin(self):
        while True:
            pass

    def disk(self):
        ctypes.CDLL(self.args.helper).hang_in_vfork()

    def fork_lock(self):
        ctypes.CDLL(self.args.helper).hang_lock_over_fork()

    def held_over_fork(self, lock, use):
        """Another thread has the lock at the moment of the fork, and lets go of it in the parent alone."""
        has, may_go = threading.Event(), threading.Event()

        def holder():
            with lock:
                has.set()
                may_go.wait()
            threading.Event().wait()
        threading.Thread(target=holder, name="holder", daemon=True).start()
        has.wait()
        child = os.fork()
        if child == 0:
            LIBC.prctl(1, signal.SIGKILL)
            use(lock)
            os._exit(0)
        may_go.set()
        os.waitpid(child, 0)

    def use(self, lock):
        with lock:
            pass

    def python_fork_lock(self):
        self.held_over_fork(threading.Lock(), self.use)

    def queue_fork_lock(self):
        """The lock is one of Python's library: what a child puts into a queue that it inherited."""
        q = queue.Queue()
        self.held_over_fork(q.mutex, lambda _: q.put(1))

    def deadlock(self):
        """Two threads take two locks in opposite order."""
        a, b, both = threading.Lock(), threading.Lock(), threading.Barrier(2)

        def move():
            with a:
                both.wait()
                b.acquire()

        def audit():
            with b:
                both.wait()
                a.acquire()
        threads = [threading.Thread(target=f) for f in (move, audit)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    def openmp(self):
        ctypes.CDLL(self.args.helper).hang_openmp_over_fork()

    def loader(self):
        silent, self.kept = socket.socketpair()
        DataLoader(lambda index: silent.recv(1)).get(0)

    def workers(self):
        """Each worker has a batch to make, and none gets on: more of them than processors."""
        silent, self.kept = socket.socketpair()
        loader = DataLoader(lambda index: silent.recv(1), num_workers=(os.cpu_count() or 1) * 2 + 1)
        for i in range(len(loader.workers)):
            loader.questions.put(i)
        loader._try_get_data()

    def shm(self):
        """A worker finds no room for its batch in shared memory, and waits for some."""
        silent, self.kept = socket.socketpair()

        def fetch(index):
            with contextlib.suppress(OSError), open("/dev/shm/batch", "wb", buffering=0) as f:
                while f.write(bytes(1 << 16)):
                    pass
            silent.recv(1)
        DataLoader(fetch).get(0)

    def copy(self):
        """From an object store that is silent."""
        mox.copy_parallel("obs://bucket/data", "/cache/data")

    def copy_file(self):
        """From a file system that is silent."""
        shutil.copyfile(self.args.file, os.devnull)

    def tensorboard(self):
        SummaryWriter(self.args.file).add_scalar("loss", 0.5)

    def norm(self):
        """All ranks exchange what they have counted; what the culprit has sent belongs nowhere."""
        SyncBatchNorm().forward(7 if self.rank == self.args.culprit else 8)

    def exception(self):
        threading.Thread(target=threading.Event().wait, name="keeps it alive").start()
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    def exception_ends(self):
        {}["learning_rate"]

    def cascade(self):
        """Fails, lets go of its peers, and takes a while to end: they end before it does."""
        atexit.register(time.sleep, 20)
        atexit.register(dist.leave)
        raise RuntimeError("a batch of 7 where 8 were expected")

    def mismatch(self):
        dist.barrier()

    def p2p(self):
        dist.recv(0 if self.rank else 1)

    def suspend(self):
        """Ctrl-Z and fg: all of the job is stopped by hand, and goes on later."""
        self.held(lambda pid: time.sleep(self.args.last), lambda pid: os.kill(pid, signal.SIGCONT),
                  lambda: os.kill(os.getpid(), signal.SIGSTOP))

    def debug(self):
        """Somebody looks at one rank with a debugger: it is stopped as long as that lasts."""
        def hold(pid):
            attach, detach = 16, 17
            LIBC.ptrace(attach, pid, 0, 0)
            os.waitpid(pid, 0x40000000)  # __WALL
            time.sleep(self.args.last)
            LIBC.ptrace(detach, pid, 0, 0)
        LIBC.prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)  # PR_SET_PTRACER: anybody
        self.held(hold, lambda pid: None, lambda: time.sleep(0.5))

    def held(self, hold, release, here):
        """Another process holds this one for a while; it does nothing else itself."""
        me = os.getpid()
        child = os.fork()
        if child == 0:
            hold(me)
            release(me)
            os._exit(0)
        here()
        os.waitpid(child, 0)

    # What is benign ------------------------------------------------------------------------------------------------

    def lasting(self):
        return time.monotonic() < self.end

    def sleep(self):
        time.sleep(self.args.last)

    def checkpoint(self):
        with tempfile.NamedTemporaryFile() as f:
            save(os.urandom(1 << 20), f.name, int(self.args.last / 0.1))

    def download(self):
        """From a server that is not quick: through http.client, as whoever fetches a model does."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            if os.fork() == 0:
                client, _ = server.accept()
                client.recv(1 << 16)
                client.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
                while self.lasting():
                    client.sendall(b"x" * 50_000)
                    time.sleep(0.05)
                os._exit(0)
            with urllib.request.urlopen(f"http://127.0.0.1:{server.getsockname()[1]}/model") as answer:
                while answer.read(1 << 16):
                    pass
        os.wait()

    def compile(self):
        source = "\n".join(f"double f{i}(double x) {{ return x * {i} + f{i - 1}(x); }}" for i in range(1, 3000))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.c")
            path.write_text("static double f0(double x) { return x; }\n" + source)
            while self.lasting():
                subprocess.run(["cc", "-O2", "-c", path, "-o", f"{path}.o"], check=True)

    def evaluation(self):
        n = 0
        while self.lasting():
            n += 1
            print(f"Evaluation: batch {n} accuracy {0.5 + n / 1000:.3f}", flush=True)
            sum(i * i for i in range(300_000))
            time.sleep(0.2)

    def idle_end(self):
        """The training is over for this rank; it sends its results to a server that is not quick, the others have ended."""
        self.end = time.monotonic() + self.args.last
        with socket.create_server(("127.0.0.1", 0)) as server:
            if os.fork() == 0:
                client, _ = server.accept()
                while client.recv(20_000):
                    time.sleep(0.05)
                os._exit(0)
            client = http.client.HTTPConnection("127.0.0.1", server.getsockname()[1])
            client.request("PUT", "/model", body=self.blocks(), encode_chunked=True)
        client.close()
        os.wait()

    def blocks(self):
        while self.lasting():
            yield bytes(20_000)

    def work(self):
        """A long first step: busy, and says nothing."""
        while self.lasting():
            sum(i * i for i in range(300_000))

    # ------------------------------------------------------------------------------------------------------------------

    EARLY = ("missing",)
    OWN = ("uneven", "size", "slow", "idle_end", "epochs")  # have their place in the steps, or behind them
    ALL = ("sleep", "suspend", "norm")

    def missing(self):
        """The culprit never comes to the first meeting."""
        self.lock()

    def trouble(self):
        self.end = time.monotonic() + self.args.last
        if self.rank == self.args.culprit or self.args.what in self.ALL:
            getattr(self, self.args.what)()

    def compute(self, step):
        """A slow rank: from --at on three tenths more."""
        slow = self.args.what == "slow" and self.rank == self.args.culprit and step >= self.args.at
        time.sleep(self.args.step_s * (1.3 if slow else 1))

    def recorder(self):
        """What PyTorch's thread of the Flight Recorder does: a word through the pipe, and the dump is written."""
        folder = pathlib.Path(self.args.dumps)
        with open(folder / f"pipe_{self.rank}.pipe", "rb") as pipe:
            while pipe.read(1):
                shutil.copy(folder / f"ready_{self.rank}", folder / f"fr_{self.rank}")

    def line(self, step):
        if self.args.what != "epochs":
            return f"step {step}/{self.args.steps} loss={1 / step:.3f}"
        epoch = 49 if step >= self.args.at and self.rank != self.args.culprit else 48
        return (f"[2022-04-26 13:57:20,757][INFO][train_epoch]:Rank:{self.rank} Epoch:[{epoch}][{step}/all] Data Time 0.000(0.147) "
                f"Net Time 0.705(0.709) Loss 0.3364(0.3414)LR 0.00021887")

    def steps(self):
        for step in range(1, self.args.steps + 1):
            self.compute(step)
            # one rank comes with another size: on the stack they all stand alike
            odd = self.args.what in ("size", "epochs") and self.rank == self.args.culprit
            dist.all_reduce(size=7 if odd and step == self.args.at + (self.args.what == "epochs") else 8)
            if not self.args.quiet:
                print(self.line(step), flush=True)
            if step == self.args.at and self.args.what not in self.OWN:
                self.trouble()
            if self.args.what == "uneven" and self.rank == self.args.culprit and step == self.args.at:
                print("Epoch 1 finished", flush=True)
                return

    def noise(self):
        while True:
            print(f"heartbeat {time.time():.0f} ok", flush=True)
            time.sleep(1)

    def run(self):
        for text in (t.split(":", 1)[1] for t in self.args.say if t.startswith(f"{self.rank}:")):
            print(text, flush=True)
        if self.args.noise:
            threading.Thread(target=self.noise, daemon=True, name="logger").start()
        if self.args.dumps:
            threading.Thread(target=self.recorder, daemon=True, name="recorder").start()
        self.opened = [open(path.replace("RANK", str(self.rank)), "rb") for path in self.args.open]
        if self.args.maps:
            with open(self.args.maps.replace("RANK", str(self.rank)), "rb") as f:
                self.mapped = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
        if self.args.what in self.EARLY and self.rank == self.args.culprit:
            self.missing()
        dist.deaf = self.args.deaf
        dist.timeout_s, dist.watchdog = self.args.ddp_timeout, self.args.watchdog
        dist.store = self.args.what == "store"
        dist.init_process_group()
        if self.args.at == 0:
            self.trouble()
        self.steps()
        if self.args.what == "idle_end" and self.rank == self.args.culprit:
            self.idle_end()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def process(rank, world, port, args):
    """What a user's own function does first, as PyTorch's tutorials have it."""
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    Job(args).run()


def by_multiprocessing(args):
    port, context = str(free_port()), multiprocessing.get_context(args.by)
    ranks = [context.Process(target=process, args=(rank, args.spawn, port, args)) for rank in range(args.spawn)]
    for r in ranks:
        r.start()
    for r in ranks:
        r.join()
    sys.exit(any(r.exitcode for r in ranks))


def by_itself(args):
    """The way of Lightning: the program is rank 0, and starts the others by its own words."""
    local = os.environ.get("LOCAL_RANK")
    if local is None:
        os.environ.update(LOCAL_RANK="0", NODE_RANK="0", WORLD_SIZE=str(args.spawn), MASTER_ADDR="127.0.0.1",
                          MASTER_PORT=str(free_port()))
        for rank in range(1, args.spawn):
            subprocess.Popen([sys.executable, *sys.argv], env=dict(os.environ, LOCAL_RANK=str(rank)))
    os.environ["RANK"] = local or "0"
    Job(args).run()


def spawn(args):
    port = free_port()
    ranks = []
    for rank in range(args.spawn):
        env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(args.spawn), MASTER_ADDR="127.0.0.1",
                   MASTER_PORT=str(port))
        for name, value in (s.split(":", 1)[1].split("=", 1) for s in args.set if s.startswith(f"{rank}:")):
            env.update({name: value}) if value else env.pop(name)
        words = [w for i, w in enumerate(sys.argv) if w != "--spawn" and sys.argv[i - 1] != "--spawn"]
        ranks.append(subprocess.Popen([sys.executable, "-u", *words], env=env))
    sys.exit(ranks[0 if args.culprit else 1].wait())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("what")
    p.add_argument("--culprit", type=int, default=1)
    p.add_argument("--at", type=int, default=10)
    p.add_argument("--steps", type=int, default=40)
    p.add_argument("--step-s", type=float, default=0.1)
    p.add_argument("--gap", type=float, default=32)
    p.add_argument("--last", type=float, default=3600)
    p.add_argument("--spawn", type=int)
    p.add_argument("--by", choices=("fork", "spawn", "itself"), help="how --spawn starts ranks: multiprocessing's ways, or Lightning's")
    p.add_argument("--set", action="append", default=[], help="N:NAME=VALUE for the Nth rank of --spawn; no value: unset")
    p.add_argument("--say", action="append", default=[], help="N:TEXT, printed by rank N before it meets the others")
    p.add_argument("--ddp-timeout", "--patience", type=float, dest="ddp_timeout",
                   help="seconds after which a rank that waits for the others fails; by the second name nobody knows it")
    p.add_argument("--watchdog", action="store_true", help="and does so as NCCL's watchdog does")
    p.add_argument("--quiet", action="store_true", help="print no steps")
    p.add_argument("--noise", action="store_true")
    p.add_argument("--record", action="store_true", help="exceptions go into the rank's error file, and nowhere else")
    p.add_argument("--kept", action="store_true", help="another thread could release the lock: that it will not is no proof")
    p.add_argument("--deaf", action="store_true")
    p.add_argument("--file", help="what is copied, or where TensorBoard writes")
    p.add_argument("--helper")
    p.add_argument("--dumps", help="folder with ready_N of each rank, which pipe_N.pipe makes fr_N of")
    p.add_argument("--maps", help="a file to have in memory: vigil knows libraries by their names; RANK: the rank's number")
    p.add_argument("--open", action="append", default=[], help="a file to have open; RANK: the rank's number")
    args = p.parse_args()
    if args.by:
        sys.exit(by_itself(args) if args.by == "itself" else by_multiprocessing(args))
    if args.spawn:
        spawn(args)
    if args.record:
        sys.excepthook = lambda *_: None
        record(Job(args).run)()
    Job(args).run()


if __name__ == "__main__":
    main()
