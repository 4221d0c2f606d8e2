import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

from concurrent.futures import ProcessPoolExecutor
def work(i):
    if i == 0:
        role("worker")
    time.sleep(0.2 if i else 15)
    return i
if __name__ == "__main__":
    steps(3)
    with ProcessPoolExecutor(2) as p:
        for i in p.map(work, range(60)):
            log(i)
