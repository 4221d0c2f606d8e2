"""A preprocessing pool with one thread; a task waits for a task it has put behind itself."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time
from concurrent.futures import ThreadPoolExecutor

pool = ThreadPoolExecutor(1)


def normalise(x):
    return x / 2


def prepare(x):
    if x == 15:
        return pool.submit(normalise, x).result()
    return normalise(x)


def run():
    kit.services(2)
    group = kit.Star()
    kit.idle_loaders(2)
    for i in range(1000):
        time.sleep(0.25)
        pool.submit(prepare, i if kit.RANK == 1 else 0).result()
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
