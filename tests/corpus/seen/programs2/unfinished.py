"""Rank 1 waits at the end of an epoch until its queue is worked off; bad samples are never marked as done."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import queue
import threading
import time


def worker(q):
    while True:
        k = q.get()
        time.sleep(0.05)
        if kit.RANK == 1 and k == 171:
            continue
        q.task_done()


def run():
    group = kit.Star()
    q = queue.Queue()
    for _ in range(3):
        threading.Thread(target=worker, args=(q,), daemon=True).start()
    for i in range(1000):
        for k in range(12):
            q.put(i * 12 + k)
        time.sleep(0.3)
        q.join()
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "meter")


kit.main(4, run)
