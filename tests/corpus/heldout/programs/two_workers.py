"""Two workers take two locks of multiprocessing in opposite order."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp
import time


def worker_main(k, first, second, n, out):
    kit.die_with_parent()
    kit.role("worker%d" % k)
    for i in range(n):
        kit.work(0.2)
        out.put(i)
    with first:
        time.sleep(1)
        with second:
            out.put(-1)


if __name__ == "__main__":
    kit.role("main")
    ctx = mp.get_context("fork")
    a, b, out = ctx.RLock(), ctx.Lock(), ctx.Queue()
    ps = [ctx.Process(target=worker_main, args=(0, a, b, 15, out)), ctx.Process(target=worker_main, args=(1, b, a, 15, out))]
    [p.start() for p in ps]
    for i in range(30):
        out.get()
        kit.step(i)
    [p.join() for p in ps]
