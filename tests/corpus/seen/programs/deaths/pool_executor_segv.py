"""A worker of ProcessPoolExecutor segfaults."""
from job import *

from concurrent.futures import ProcessPoolExecutor
import multiprocessing as mp, ctypes
def work(i):
    if i == 3:
        time.sleep(1.5)
        role("worker")
        ctypes.string_at(8)
    return i
if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=mp.get_context("fork")) as ex:
        train(0, 5)
        print(list(ex.map(work, range(8))))
