"""A parent joins its worker before it empties the queue."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp


def worker_main(q, n):
    kit.die_with_parent()
    kit.role("worker")
    for i in range(n):
        q.put(bytes(10000))


if __name__ == "__main__":
    kit.role("main")
    ctx = mp.get_context("fork")
    for i in range(14):
        kit.work(0.3)
        kit.step(i)
    q = ctx.Queue()
    p = ctx.Process(target=worker_main, args=(q, 100))
    p.start()
    p.join()
    print(len([q.get() for _ in range(100)]))
