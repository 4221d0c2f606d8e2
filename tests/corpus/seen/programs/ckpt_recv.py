"""Rank 0 writes a checkpoint slowly for 65 s, the others wait for it in recv."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time


def save(i):
    with open(kit.tmp(f"ckpt{i}"), "wb") as f:
        for _ in range(int(kit.secs(65) * 4)):
            f.write(os.urandom(20000))
            f.flush()
            os.fsync(f.fileno())
            time.sleep(0.25)


def run():
    kit.services(2)
    group = kit.Star()
    for i in range(20):
        time.sleep(0.25)
        if i == 12 and kit.RANK == 0:
            save(i)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(4, run)
