"""Both workers of a process pool of rank 1 wait for an answer that only a third task would write."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import multiprocessing as mp
import time
from concurrent.futures import ProcessPoolExecutor

boxes = None


def join(q):
    global boxes
    boxes = q


def shard(k, wait):
    time.sleep(0.1)
    return boxes.get() if wait else k


def header(n):
    for _ in range(n):
        boxes.put("cols")


def run():
    group = kit.Star()
    ctx = mp.get_context("fork")
    pool = ProcessPoolExecutor(2, ctx, join, (ctx.Queue(),))
    for i in range(1000):
        time.sleep(0.4)
        new = kit.RANK == 1 and i == 18
        jobs = [pool.submit(shard, k, new) for k in range(3)]
        if new:
            jobs.append(pool.submit(header, 3))
        for j in jobs:
            j.result()
        group.barrier()


kit.main(3, run)
