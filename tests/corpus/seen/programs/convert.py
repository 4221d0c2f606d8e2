"""Rank 3 waits for a conversion script that sleeps for ever."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import subprocess
import time


def convert(i):
    p = subprocess.Popen(["sleep", "0.1" if i < 13 else "infinity"])
    kit.role("converter3", p.pid)
    p.wait()


def run():
    kit.services(3)
    group = kit.Star()
    kit.idle_loaders(2)
    for i in range(1000):
        time.sleep(0.25)
        if kit.RANK == 3 and i % 6 == 3:
            convert(i)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i, flush=False)


kit.main(4, run)
