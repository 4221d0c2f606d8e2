"""Rank 1 resizes pictures in a Pool; one pool worker is killed with a task in its hands."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import multiprocessing as mp
import signal
import time


def resize(i):
    if i == 103:
        os.kill(os.getpid(), signal.SIGKILL)     # what the memory killer does
    time.sleep(0.01)
    return i


def run():
    group = kit.Ring()
    pool = mp.get_context("fork").Pool(2) if kit.RANK == 1 else None
    for i in range(1000):
        time.sleep(0.25)
        if pool:
            pool.map(resize, range(i * 8, i * 8 + 8))
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
