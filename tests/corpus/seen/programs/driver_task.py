"""A driver waits on a future for one task of 70 s in another process."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import multiprocessing as mp
import time
from concurrent.futures import ProcessPoolExecutor


def fit(fold, n):
    kit.role(f"worker{fold}")
    x = 0
    end = time.time() + n
    while time.time() < end:
        x = (x * 1103515245 + 12345) % 2**31
        if x % 1000 == 0:
            time.sleep(0.01)
    return x


if __name__ == "__main__":
    kit.role("main")
    print("cross validation, 2 folds", flush=True)
    with ProcessPoolExecutor(2, mp.get_context("spawn")) as ex:
        for fold, r in enumerate(ex.map(fit, range(2), [kit.secs(40), kit.secs(70)])):
            print("fold", fold, r % 10, flush=True)
