import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

import multiprocessing as mp
def work(x):
    if x == 7:
        raise ValueError("sample 77: boxes have shape (0,), expected (n, 4)")
    return x
if __name__ == "__main__":
    steps(8)
    with mp.Pool(2) as pool:
        pool.map(work, range(12))
