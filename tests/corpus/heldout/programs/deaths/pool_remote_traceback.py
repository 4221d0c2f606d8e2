"""Multiprocessing.Pool: the error of a worker comes with its remote traceback."""
from job import *

import multiprocessing as mp
def tokenise(i):
    if i == 7:
        raise ValueError("document 7 is empty")
    return i
if __name__ == "__main__":
    with mp.get_context("fork").Pool(3) as p:
        train(0, 5)
        p.map(tokenise, range(10))
