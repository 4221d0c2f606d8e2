"""numpy computes for 65 s in two ranks without a print, then they compare."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time


def run():
    import numpy as np
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    group = kit.Star()
    a = np.random.rand(150, 150)
    end = time.time() + kit.secs(65)
    n = 0
    while time.time() < end:
        np.linalg.svd(a)
        n += 1
        time.sleep(0.05)
    group.allreduce(n)
    kit.step(0)


kit.main(2, run)
