"""Rank 2 holds the lock of its weights while it waits for a task of a pool that wants the lock."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import threading
import time
from concurrent.futures import ThreadPoolExecutor

weights = threading.RLock()


def average(k):
    with weights:
        time.sleep(0.02)
    return k


def run():
    group = kit.Ring()
    pool = ThreadPoolExecutor(2, thread_name_prefix="ema")
    kit.services(2)
    for i in range(1000):
        time.sleep(0.3)
        if kit.RANK == 2 and i == 25:
            with weights:
                pool.submit(average, i).result()
        else:
            pool.submit(average, i).result()
        group.barrier()


kit.main(4, run)
