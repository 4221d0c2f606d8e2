"""Rank 1 reads with four threads that meet after each batch; the one with the shortest shard has ended."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import threading
import time


def reader(meet, lines):
    for _ in range(lines):
        time.sleep(0.25)
        meet.wait()


def run():
    group = kit.Star()
    meet = threading.Barrier(5)
    for t in range(4):
        n = 30 if kit.RANK == 1 and t == 2 else 10 ** 6
        threading.Thread(target=reader, args=(meet, n), name=f"reader-{t}", daemon=True).start()
    for i in range(1000):
        meet.wait()
        group.allreduce(1.0)
        if kit.RANK == 0 and i % 4 == 0:
            kit.log(i, "info")


kit.main(3, run)
