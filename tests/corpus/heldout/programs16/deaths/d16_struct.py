"""A worker reads a header that is cut off; main only tells that the worker has left."""
import multiprocessing
import struct

from kitd16 import *


def worker(number):
    role("worker%d" % number)
    time.sleep(1.5)
    if number == 1:
        struct.unpack("<QQ", b"\0" * 11)
    time.sleep(1)


context = multiprocessing.get_context("fork")
workers = [context.Process(target=worker, args=(n,)) for n in range(3)]
for w in workers:
    w.start()
told(25)
for n, w in enumerate(workers):
    w.join()
    if w.exitcode:
        raise RuntimeError("worker %d left with status %d" % (n, w.exitcode))
