"""Rank 2 gives a metrics queue 62 s to fill and goes on without it; the limit is in the log."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import multiprocessing as mp
import queue
import time


def run():
    group = kit.Star()
    q = mp.get_context("fork").Queue()
    for i in range(28):
        time.sleep(0.3)
        if kit.RANK == 2 and i == 14:
            print("waiting at most 62 s for late metrics", flush=True)
            try:
                q.get(timeout=kit.secs(62))
            except queue.Empty:
                print("no late metrics, going on", flush=True)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "plain")


kit.main(4, run)
