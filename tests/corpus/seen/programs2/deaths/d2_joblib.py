import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

import ctypes
def work(i):
    time.sleep(0.3)
    if i == 5:
        ctypes.string_at(8)
    return i
if __name__ == "__main__":
    from joblib import Parallel, delayed
    steps(3)
    Parallel(2)(delayed(work)(i) for i in range(12))
