"""A loading process is killed by a signal from outside. Its parent sees it when it waits for the next batch, and fails."""
import multiprocessing
import queue
import signal
import time

from kitd21 import role, with_parent


def load(batches):
    with_parent()
    role("loader")
    for k in range(600):
        time.sleep(0.1)
        batches.put(k)


def next_batch(loader, batches):
    while True:
        try:
            return batches.get(timeout=0.5)
        except queue.Empty:
            if loader.exitcode is not None:
                raise RuntimeError("loading process (pid %d) is killed by signal: %s"
                                   % (loader.pid, signal.Signals(-loader.exitcode).name)) from None


context = multiprocessing.get_context("fork")
batches = context.Queue(2)
loader = context.Process(target=load, args=(batches,), daemon=True)
loader.start()
for step in range(600):
    next_batch(loader, batches)
    if step % 5 == 0:
        print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)), flush=True)
