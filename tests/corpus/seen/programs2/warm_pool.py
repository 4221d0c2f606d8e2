"""A pool of warm workers stands by, unused, while the one trainer of the job works slowly through its epochs."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import multiprocessing as mp
import time
from concurrent.futures import ProcessPoolExecutor


def crop(k):
    return k + 1


if __name__ == "__main__":
    kit.role("main")
    with ProcessPoolExecutor(4, mp.get_context("fork")) as pool:
        list(pool.map(crop, range(16)))
        for i in range(9):
            end, x = time.time() + kit.secs(8), 1.0
            while time.time() < end:
                for _ in range(3000):
                    x = x * 0.9999 + 0.0001
                time.sleep(0.02)
            kit.log(i, "keras")
        list(pool.map(crop, range(16)))
