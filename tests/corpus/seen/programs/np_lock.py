"""numpy training; rank 1's prefetcher died with the batch lock in its hands."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import threading
import time

lock = threading.Lock()


def prefetch(np):
    n = 0
    while True:
        lock.acquire()
        n += 1
        x = np.ones((8, 8)) if n < 15 or kit.RANK != 1 else np.ones((8, 7))
        try:
            x @ np.ones((8, 8))
        except ValueError as e:
            print("prefetch:", e, flush=True)
            return
        lock.release()
        time.sleep(0.25)


def run():
    import numpy as np
    kit.services(2)
    group = kit.Ring()
    threading.Thread(target=prefetch, args=(np,), daemon=True).start()
    w = np.zeros(64)
    for i in range(1000):
        time.sleep(0.25)
        with lock:
            w += 0.1 * np.random.rand(64)
        w[0] = group.allreduce(float(w[0])) / kit.WORLD
        if kit.RANK == 0:
            kit.step(i, float(abs(w[0])) / (1 + i))


kit.main(3, run)
