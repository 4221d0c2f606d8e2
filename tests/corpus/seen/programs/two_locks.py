"""Rank 3: the trainer takes model then stats, the reporter takes stats then model."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import threading
import time

model, stats = threading.Lock(), threading.RLock()


def train_step(i):
    with model:
        time.sleep(0.05)
        with stats:
            return i


def report():
    while True:
        time.sleep(1)
        with stats:
            time.sleep(0.3)
            with model:
                pass


def run():
    kit.services(1)
    group = kit.Star()
    kit.idle_loaders(2)
    if kit.RANK == 3:
        threading.Thread(target=report, daemon=True).start()
    for i in range(1000):
        train_step(i)
        time.sleep(0.2)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(4, run)
