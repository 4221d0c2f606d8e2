import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

import multiprocessing as mp
def work(k):
    if k == 0:
        role("worker")
    time.sleep(3)
if __name__ == "__main__":
    for k in range(2):
        p = mp.get_context("fork").Process(target=work, args=(k,)); p.start()
        while p.is_alive():
            steps(1)
        p.join()
        print("worker ended with", p.exitcode, flush=True)
    print("all batches done", flush=True)
