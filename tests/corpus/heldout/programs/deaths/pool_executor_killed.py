"""A worker of ProcessPoolExecutor is killed from outside."""
from job import *

from concurrent.futures import ProcessPoolExecutor
import multiprocessing as mp
def work(i):
    if i == 3:
        role("worker")
        time.sleep(30)
    return i
if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=mp.get_context("fork")) as ex:
        train(0, 5)
        print(list(ex.map(work, range(8))))
