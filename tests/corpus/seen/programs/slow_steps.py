"""A large model on a small machine: steps of 40 s."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time


def forward(n):
    end = time.time() + n
    acc = 0
    while time.time() < end:
        acc += sum(i * i for i in range(5000))
        time.sleep(0.04)
    return acc


def run():
    group = kit.Star()
    for i in range(3):
        forward(kit.secs(40 if i else 5))
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(2, run)
