import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

from concurrent.futures import ProcessPoolExecutor
def work(x):
    time.sleep(0.2)
    if x == 5:
        fault()
    return x
if __name__ == "__main__":
    steps(8)
    with ProcessPoolExecutor(2) as pool:
        for y in pool.map(work, range(12)):
            print("encoded", y, flush=True)
