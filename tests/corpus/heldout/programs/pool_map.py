"""Rank 1 maps over a pool; a worker is killed in its task, the result never comes."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp
import signal

ctx = mp.get_context("fork")


def decode(x):
    if x == 99:
        os.kill(os.getpid(), signal.SIGKILL)
    kit.work(0.1)
    return x


def run():
    comm = kit.Star()
    pool = ctx.Pool(2) if kit.rank() == 1 else None
    for i in range(1000):
        kit.work(0.2)
        if pool:
            pool.map(decode, [i, i + 1, 99 if i == 14 else i])
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run)
