"""A trainer stops at max_steps with `break`, and joins its loading process, which still puts batches into a queue of
multiprocessing that nobody takes from now.

slow: the loader is told to stop and looks at that; it packs its cache for 62 s before it ends."""
import multiprocessing
import os

from kit27 import SLOW, STALL, busy, crunch, role, tell, with_parent


def load(queue, stop):
    role("loader")
    with_parent()
    k = 0
    while not stop.is_set():
        crunch(0.05)
        queue.put((k, os.urandom(1 << 16)))
        k += 1
    if SLOW:
        busy(62)


role("main")
queue, stop = multiprocessing.Queue(4), multiprocessing.Event()
loader = multiprocessing.Process(target=load, args=(queue, stop))
loader.start()
for step in range(3000):
    queue.get()
    crunch(0.2)
    tell(step, "step={step} loss={loss:.4f} tok/s=1832")
    if step == STALL:
        print("max_steps reached", flush=True)
        break
if SLOW:
    stop.set()
    while loader.is_alive():
        while not queue.empty():
            queue.get()
        loader.join(1)
loader.join()
