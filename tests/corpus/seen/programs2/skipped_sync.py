"""Twelve ranks meet by keys of a store; rank 3 drops a batch with a bad loss and its barrier with it."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import time


def run():
    store = kit.Store()
    for i in range(1000):
        time.sleep(0.4)
        loss = float("nan") if kit.RANK == 3 and i == 19 else 1.0
        if loss != loss:
            continue
        store.barrier(f"grads/{i}")
        if kit.RANK == 0:
            kit.log(i, "meter")


kit.main(12, run)
