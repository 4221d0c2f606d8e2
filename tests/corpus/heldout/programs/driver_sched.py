"""A driver and two workers; jobs come on a schedule, the workers idle on a queue."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp
import time


def worker_main(k, q, done):
    kit.die_with_parent()
    kit.role("worker%d" % k)
    while q.get() is not None:
        kit.work(0.5)
        done.put(k)


if __name__ == "__main__":
    kit.role("main")
    ctx = mp.get_context("spawn")
    q, done = ctx.Queue(), ctx.Queue()
    ws = [ctx.Process(target=worker_main, args=(k, q, done)) for k in range(2)]
    [w.start() for w in ws]
    for gap in (0.5, 0.5, 0.5, 60, 0.5):
        q.put(1)
        done.get()
        print("job done", flush=True)
        time.sleep(gap)
    q.put(None)
    q.put(None)
    [w.join() for w in ws]
