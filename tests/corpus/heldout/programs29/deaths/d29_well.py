"""A worker fails and is started again, a file is missing and made; the end is good."""
import multiprocessing
import sys
import traceback

from kitd29 import role, steps, time


def worker(attempt):
    time.sleep(0.5)
    if attempt == 0:
        raise RuntimeError("CUDA out of memory (tried to allocate 2.00 GiB)")


role("main")
steps(10)
for attempt in range(2):
    child = multiprocessing.get_context("fork").Process(target=worker, args=(attempt,))
    child.start()
    child.join()
    if child.exitcode:
        print("worker failed with %d, once more with half the batch" % child.exitcode, file=sys.stderr, flush=True)
try:
    open("cache.idx")
except FileNotFoundError:
    traceback.print_exc()
steps(10, 10)
print("training complete", flush=True)
