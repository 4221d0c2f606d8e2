"""A ring of numpy slots between rank 1 and its loader; one slot is lost, each waits for the other."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp

import numpy as np

ctx = mp.get_context("fork")


def fill(slots, free, full):
    kit.die_with_parent()
    kit.role("loader1")
    i = 0
    while True:
        free.acquire()
        slots[i % 2] = np.sqrt(np.arange(1000.0) + i)
        full.release()
        i += 1


def run():
    comm = kit.Star()
    raw = ctx.RawArray("d", 2000)
    slots = np.frombuffer(raw).reshape(2, 1000)
    free, full = ctx.Semaphore(2), ctx.Semaphore(0)
    if kit.rank() == 1:
        ctx.Process(target=fill, args=(slots, free, full), daemon=True).start()
    for i in range(1000):
        kit.work(0.25)
        if kit.rank() == 1:
            full.acquire()
            float(slots[i % 2].sum())
            if i not in (12, 15):
                free.release()
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run)
