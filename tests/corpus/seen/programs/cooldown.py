"""All ranks rest for 65 s between two phases to let the power budget recover."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time


def run():
    kit.services(1)
    group = kit.Star()
    for i in range(24):
        time.sleep(0.25)
        if i == 12:
            print(f"rank {kit.RANK}: pause of 65 s before phase 2", flush=True)
            time.sleep(kit.secs(65))
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
