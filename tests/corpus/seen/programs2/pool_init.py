"""A pool of rank 1 makes new workers for ever: each of them ends in its initialiser because a file is gone."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import multiprocessing as mp
import time


def init(path):
    time.sleep(0.5)
    if not os.path.exists(path):
        os._exit(1)


def square(k):
    return k * k


def run():
    group = kit.Mesh()
    table = kit.tmp(f"table{kit.RANK}")
    open(table, "w").close()
    ctx = mp.get_context("fork")
    for i in range(1000):
        time.sleep(0.4)
        if i % 8 == 7:
            if kit.RANK == 1 and i == 15:
                os.unlink(table)
            with ctx.Pool(2, init, (table,)) as pool:
                pool.map(square, range(8))
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "iter")


kit.main(3, run)
