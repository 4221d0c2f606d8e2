"""A worker of ProcessPoolExecutor leaves with os._exit: BrokenProcessPool."""
from job import *

from concurrent.futures import ProcessPoolExecutor
import multiprocessing as mp
def work(i):
    if i == 3:
        print("worker: licence of the tokeniser has run out", flush=True)
        os._exit(13)
    return i
if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=mp.get_context("fork")) as ex:
        train(0, 5)
        print(list(ex.map(work, range(8))))
