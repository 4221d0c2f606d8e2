"""Rank 3 shares a lock with an indexer that was killed while it held it."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import multiprocessing as mp
import signal
import time


def indexer(lock):
    kit.role("indexer3")
    n = 0
    while True:
        with lock:
            time.sleep(0.05)
            n += 1
            if n == 30:
                os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.1)


def run():
    kit.services(2)
    group = kit.Star()
    lock = mp.get_context("fork").Lock()
    if kit.RANK == 3:
        p = mp.get_context("fork").Process(target=indexer, args=(lock,), daemon=True)
        p.start()
    for i in range(1000):
        time.sleep(0.25)
        if kit.RANK == 3:
            with lock:
                pass
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(4, run)
