"""Processes average over shared memory with numpy, and meet at a multiprocessing.Barrier. One has an empty part of the data and has
left; the barrier is for three (slow: it cleans its part)."""
import multiprocessing

import numpy as np

from kit26 import SLOW, STALL, crunch, role, say


def work(k, shared, barrier):
    role("worker%d" % k)
    mine = np.frombuffer(shared, dtype=np.float64).reshape(3, 100)
    for step in range(STALL + 25):
        if k == 2 and step == STALL:
            if not SLOW:
                return
            crunch(66)
        crunch(0.2)
        mine[k] += 0.1 * (1 - mine.mean(0))
        barrier.wait()
        if k == 0 and step % 5 == 0:
            say("step %d error %.4f" % (step, abs(1 - mine).mean()))
        barrier.wait()


if __name__ == "__main__":
    role("main")
    shared, barrier = multiprocessing.RawArray("d", 300), multiprocessing.Barrier(3)
    workers = [multiprocessing.Process(target=work, args=(k, shared, barrier)) for k in range(3)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
