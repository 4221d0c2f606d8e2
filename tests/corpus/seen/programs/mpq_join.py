"""Rank 1 joins its feature worker before it has emptied the queue."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import multiprocessing as mp
import time


def features(q, n):
    kit.role("worker1")
    for i in range(n):
        q.put(b"f" * 4000)


def epoch(i):
    ctx = mp.get_context("fork")
    q = ctx.Queue()
    n = 2 if i < 14 else 200
    p = ctx.Process(target=features, args=(q, n))
    p.start()
    p.join()
    return [q.get() for _ in range(n)]


def run():
    kit.services(1)
    group = kit.Star()
    for i in range(1000):
        time.sleep(0.25)
        if kit.RANK == 1 and i % 7 == 0:
            epoch(i)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
