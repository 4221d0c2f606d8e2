import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

import multiprocessing as mp
def work(k):
    role(f"worker{k}")
    cache = {}
    for i in range(600):
        if k == 2:
            cache[i] = hold(5)
        time.sleep(0.1)
if __name__ == "__main__":
    role("main")
    base = hold(60)
    ps = [mp.get_context("fork").Process(target=work, args=(k,), daemon=True) for k in range(4)]
    for p in ps: p.start()
    steps(900, pause=0.1)
