"""Quiet numpy work, no lines for a minute."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import time

import numpy as np


def run():
    comm = kit.Star()
    a = np.random.rand(300, 300)
    for i in range(12):
        a = a @ a
        a /= np.linalg.norm(a)
        kit.work(0.2)
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)
    t = time.time() + 60
    while time.time() < t:
        np.linalg.svd(a)
    comm.all_reduce(1)


os.environ["OPENBLAS_NUM_THREADS"] = "1"
kit.go(2, run)
