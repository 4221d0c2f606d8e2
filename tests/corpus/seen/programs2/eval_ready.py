"""Rank 2 waits for its evaluator to say that it is ready; the evaluator has failed before it could."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import multiprocessing as mp
import time


def evaluator(ready, bad):
    kit.role(f"evaluator{kit.RANK}")
    time.sleep(0.2)
    if bad:
        os._exit(1)
    ready.set()
    time.sleep(0.3)


def run():
    group = kit.Star()
    ctx = mp.get_context("fork")
    for i in range(1000):
        time.sleep(0.4)
        if i % 5 == 4:
            ready = ctx.Event()
            ctx.Process(target=evaluator, args=(ready, kit.RANK == 2 and i == 14), daemon=True).start()
            ready.wait()
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "keras")


kit.main(4, run)
