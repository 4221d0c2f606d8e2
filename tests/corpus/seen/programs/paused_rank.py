"""Rank 2 of four got a stop signal, the rest wait in a ring."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import signal
import time


def run():
    kit.services(2)
    group = kit.Ring()
    kit.idle_loaders(2)
    for i in range(1000):
        time.sleep(0.25)
        if kit.RANK == 2 and i == 14:
            os.kill(os.getpid(), signal.SIGSTOP)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(4, run)
