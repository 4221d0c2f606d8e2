"""Every rank goes on to print that it is alive; rank 2 waits for a prefetch thread that has returned."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import queue
import threading
import time


def beat():
    n = 0
    while True:
        time.sleep(2)
        n += 1
        print(f"[heartbeat] rank {kit.RANK} alive, beat {n}", flush=True)


def prefetch(q):
    k = 0
    while not (kit.RANK == 2 and k == 26):
        time.sleep(0.2)
        q.put(k)
        k += 1


def run():
    threading.Thread(target=beat, name="heartbeat", daemon=True).start()
    q = queue.Queue(4)
    threading.Thread(target=prefetch, args=(q,), name="prefetch", daemon=True).start()
    group = kit.Ring()
    for i in range(1000):
        q.get()
        time.sleep(0.3)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "keras")


kit.main(4, run)
