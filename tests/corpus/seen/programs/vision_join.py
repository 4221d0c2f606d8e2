"""Ranks meet at rank 0; rank 3 first opens the control pipe of the scheduler, which nobody serves any more."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit


def setup():
    os.mkfifo(kit.tmp("control"))


def run():
    if kit.RANK == 3:
        with open(kit.tmp("control")) as f:
            f.readline()
    print(f"rank {kit.RANK}: joining", flush=True)
    kit.Star().barrier()
    for i in range(10):
        kit.step(i)


kit.main(4, run, setup)
