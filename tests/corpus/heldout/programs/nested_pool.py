"""A task in a pool of one thread waits for a second task in the same pool."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import concurrent.futures as cf

ex = cf.ThreadPoolExecutor(1)


def shard(i):
    return i * 2


def both(i):
    return shard(i) + (ex.submit(shard, i).result() if i == 15 else 0)


def run():
    comm = kit.Star()
    kit.services(2)
    kit.copies()
    for i in range(1000):
        kit.work(0.25)
        if kit.rank() == 0:
            ex.submit(both, i).result()
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run)
