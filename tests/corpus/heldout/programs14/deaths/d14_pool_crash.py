"""A process of concurrent.futures crashes in C; main is told of a broken pool."""
import concurrent.futures
import multiprocessing

from kitd14 import *


def tokenize(k):
    time.sleep(0.2)
    if k == 70:
        role("tokenizer")
        fault()
    return k


if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        for step, _ in enumerate(pool.map(tokenize, range(200))):
            told(1, step, 0.01)
