"""Each rank has two copy threads that meet the trainer at a barrier; in rank 0 one of them died of an exception."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import sys
import threading
import time

gate = threading.Barrier(3)


def copier(k):
    n = 0
    while True:
        gate.wait()
        n += 1
        if kit.RANK == 0 and k == 1 and n == 15:
            raise RuntimeError("copy failed: invalid stride")
        time.sleep(0.05)


def run():
    kit.services(1)
    group = kit.Star()
    kit.idle_loaders(2)
    for k in (0, 1):
        threading.Thread(target=copier, args=(k,), daemon=True).start()
    for i in range(1000):
        gate.wait()
        time.sleep(0.25)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
