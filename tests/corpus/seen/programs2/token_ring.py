"""Forked ranks take turns by semaphores; rank 2 has the turn and joins a thread that waits in an empty queue."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import multiprocessing as mp
import queue
import signal
import threading
import time


def write(q):
    while q.get() is not None:
        time.sleep(0.01)


def work(rank, sems):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ["RANK"] = str(rank)
    kit.role(f"rank{rank}")
    q = queue.Queue()
    t = threading.Thread(target=write, args=(q,), name="writer", daemon=True)
    t.start()
    for i in range(1000):
        sems[rank].acquire()
        time.sleep(0.15)
        q.put(i)
        if rank == 2 and i == 14:
            t.join()                 # the end mark was forgotten
        sems[(rank + 1) % len(sems)].release()
        if rank == 0:
            kit.log(i, "jax")


if __name__ == "__main__":
    ctx = mp.get_context("fork")
    kit.role("launcher")
    sems = [ctx.Semaphore(int(r == 0)) for r in range(4)]
    ps = [ctx.Process(target=work, args=(r, sems), daemon=True) for r in range(4)]
    for p in ps:
        p.start()
    signal.signal(signal.SIGTERM, lambda *_: (kit.end_tree(), os._exit(143)))
    for p in ps:
        p.join()
