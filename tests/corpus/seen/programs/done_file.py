"""Rank 1 looks every half second for a file that its export child should write; the child failed long ago."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time


def export(i):
    if i < 10:
        open(kit.tmp(f"done{i}"), "w").close()
    else:
        os._exit(3)


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.5)


def run():
    kit.services(1)
    group = kit.Star()
    for i in range(1000):
        time.sleep(0.25)
        if kit.RANK == 1 and i % 5 == 0:
            kit.fork_child("export1", export, i)
            wait_for(kit.tmp(f"done{i}"))
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
