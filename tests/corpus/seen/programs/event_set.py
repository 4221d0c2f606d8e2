"""A thread waits for an event that a timer sets after 65 s, by design of the learning schedule."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import threading
import time


def run():
    kit.services(1)
    group = kit.Star()
    warm = threading.Event()
    for i in range(20):
        time.sleep(0.25)
        if i == 12:
            threading.Timer(kit.secs(65), warm.set).start()
            warm.wait()
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
