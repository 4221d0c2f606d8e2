"""Ranks started by multiprocessing spawn; all wait for an event that rank 1 sets after its own reader has said yes."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import multiprocessing as mp
import queue
import threading
import time


def gather_stats(q):
    return q.get()


def worker_main(rank, n, go, tick):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(n), LOCAL_RANK=str(rank))
    kit.role(f"rank{rank}")
    kit.services(1)
    for i in range(14):
        time.sleep(0.25)
        tick.wait()
        if rank == 0:
            kit.step(i)
    if rank == 1:
        box = queue.Queue()
        t = threading.Thread(target=gather_stats, args=(box,))
        t.start()
        t.join()
        go.set()
    go.wait()


if __name__ == "__main__":
    import signal
    kit.role("launcher")
    signal.signal(signal.SIGTERM, lambda *_: (kit.end_tree(), os._exit(143)))
    ctx = mp.get_context("spawn")
    go, tick = ctx.Event(), ctx.Barrier(4)
    ps = [ctx.Process(target=worker_main, args=(r, 4, go, tick)) for r in range(4)]
    for p in ps:
        p.start()
    for p in ps:
        p.join()
