import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

import multiprocessing as mp
def rank_main(r):
    time.sleep(1)
    if r == 1:
        {}["mask_token"]
    time.sleep(5)
if __name__ == "__main__":
    ps = [mp.get_context("spawn").Process(target=rank_main, args=(r,)) for r in range(2)]
    for p in ps: p.start()
    while all(p.is_alive() for p in ps): time.sleep(0.05)
    for p in ps: p.terminate(); p.join()
    raise RuntimeError(f"worker 1 exited with code {ps[1].exitcode}")
