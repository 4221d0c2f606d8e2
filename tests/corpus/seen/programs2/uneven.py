"""Sequences of very uneven length: each step lasts as long as its slowest rank, up to 16 s. Says nothing on the way."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import time


def run():
    group = kit.Ring()
    for i in range(12):
        time.sleep(0.5 + kit.secs(16 if (i * 5 + 1) % 4 == kit.RANK and i % 3 == 1 else 1))
        group.allreduce(i)
    if kit.RANK == 0:
        print("done: 12 steps, mean length 811 tokens", flush=True)


kit.main(4, run)
