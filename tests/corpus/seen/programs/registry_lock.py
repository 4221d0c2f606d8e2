"""Shared state in a Manager process; rank 2 holds the manager's lock and waits for a message that was consumed already."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import multiprocessing as mp
import queue
import signal
import time


def train(rank, reg, lock):
    os.environ.update(RANK=str(rank), WORLD_SIZE="3", LOCAL_RANK=str(rank))
    kit.role(f"rank{rank}")
    box = queue.SimpleQueue()
    for i in range(1000):
        time.sleep(0.25)
        box.put(i)
        with lock:
            if rank == 2 and i == 14:
                box.get()
            reg[rank] = box.get()
        if rank == 0:
            kit.step(i)


def main():
    kit.role("launcher")
    ctx = mp.get_context("fork")
    m = ctx.Manager()
    kit.role("manager", m._process.pid)
    reg, lock = m.dict(), m.Lock()
    ps = [ctx.Process(target=train, args=(r, reg, lock)) for r in range(3)]
    for p in ps:
        p.start()
    signal.signal(signal.SIGTERM, lambda *_: (kit.end_tree(), os._exit(143)))
    for p in ps:
        p.join()


main()
