"""Training of one process with PyTorch. The argument says what is odd.

queue: a producer of tensors has ended by an error that it only printed, its consumer waits at torch.multiprocessing's queue
  (slow: the producer gets a shard slowly).
save: the thread of an asynchronous checkpoint wants the lock under which the training waits for it (slow: its storage is slow).
hook: a hook of a parameter gives gradients to a thread that has failed, and waits for it (slow: it takes long for one).
build: an extension is built, and the lock's file of it has another process, which waits for a cache's word (slow: it builds).
compile: a tool that a compilation starts takes long (healthy)."""
import concurrent.futures
import os
import queue
import subprocess
import sys
import threading
import time

from kit26 import OWN, SLOW, STALL, batches, crunch, fit, net, role, say, sgd, start

CASE = sys.argv[1]
if CASE != "builder":
    role("main")
import torch  # noqa: E402
import torch.multiprocessing as mp  # noqa: E402

torch.set_num_threads(1)
SOURCE = "extern int twice(int);\nint twice(int x) { return 2 * x; }"


def train(model, n=STALL, first=0):
    optimizer = sgd(model)
    for step, (x, y) in enumerate(batches(n, first), first):
        loss = fit(model, optimizer, x, y)
        if step % 5 == 0:
            say("step %d | loss %.4f" % (step, loss))


def produce(tensors):
    role("producer")
    for k in range(90):
        if k == STALL and SLOW:
            say("shard 3: 12 of 180 MB, the mirror is slow")
            time.sleep(70)
        try:
            if k == STALL and not SLOW:
                raise OSError("shard 3: checksum is wrong")
            tensors.put(torch.randn(16, 32))
        except OSError as error:
            print("producer:", error, flush=True)
            return
        time.sleep(0.15)


def from_queue(model):
    tensors, optimizer = mp.Queue(8), sgd(model)
    producer = mp.Process(target=produce, args=(tensors,))
    producer.start()
    for step in range(90):
        x = tensors.get()
        loss = fit(model, optimizer, x, x.sum(1, keepdim=True))
        if step % 5 == 0:
            say("step %d | loss %.4f" % (step, loss))
    producer.join()


class Saver:
    def __init__(self, model):
        self.model, self.lock = model, threading.Lock()
        self.pool = concurrent.futures.ThreadPoolExecutor(1, "saver")

    def write(self, step):
        if not SLOW:
            with self.lock:
                torch.save(self.model.state_dict(), "step-%d.pt" % step)
            return
        with open("step-%d.pt" % step, "wb") as f:
            for part in range(34):
                f.write(b"x" * 100000)
                os.fsync(f.fileno())
                time.sleep(2)

    def save(self, step):
        say("saving step-%d.pt" % step)
        with self.lock:
            self.pool.submit(self.write, step).result()


def saving(model):
    saver = Saver(model)
    train(model)
    saver.save(STALL)
    train(model, 20, STALL)


class Compressor(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.todo, self.count = queue.Queue(), 0

    def run(self):
        while True:
            gradient, done = self.todo.get()
            self.count += 1
            if self.count == 4 * STALL:
                if not SLOW:
                    raise RuntimeError("rank 4 of a gradient with %d columns" % gradient.shape[-1])
                crunch(64)
            done.set()

    def hook(self, parameter):
        done = threading.Event()
        self.todo.put((parameter.grad, done))
        done.wait()


def hooked(model):
    compressor = Compressor()
    compressor.start()
    for p in model.parameters():
        p.register_post_accumulate_grad_hook(compressor.hook)
    train(model, STALL + 30)


def build(model):
    from torch.utils import cpp_extension
    folder = os.path.abspath("twice")
    os.makedirs(folder, exist_ok=True)
    train(model)
    start([*OWN, "builder", *(["slow"] if SLOW else [])], "builder")
    while not os.path.exists("building"):
        time.sleep(0.05)
    say("loading the extension")
    try:
        cpp_extension.load_inline("twice", SOURCE, build_directory=folder, no_implicit_headers=True)
    except (ImportError, OSError) as error:
        say("without the extension: %s" % error)
    train(model, 20, STALL)


def builder():
    """Another process, which has the lock as load_inline takes it."""
    from torch.utils._filelock import FileLock
    with FileLock("twice/lock"):
        open("building", "w").close()
        while not SLOW and not os.path.exists("cache-is-ready"):
            time.sleep(1)
        crunch(66)


def compiles(model):
    """torch.compile with an own backend, which asks a tuner for the best tiles."""
    train(model)

    def tuned(graph, _):
        tuner = start([sys.executable, "-c", "import time\nend = time.time() + 68\nwhile time.time() < end: sum(range(9999))"], "tuner",
                      stdout=subprocess.PIPE)
        say("tuning %d operators" % len(graph.graph.nodes))
        tuner.communicate()
        return graph.forward
    fast = torch.compile(model, backend=tuned)
    fast(torch.randn(16, 32))
    train(model, 20, STALL)


if __name__ == "__main__":
    if CASE == "builder":
        builder()
    else:
        {"queue": from_queue, "save": saving, "hook": hooked, "build": build, "compile": compiles}[CASE](net())
