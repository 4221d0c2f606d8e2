"""multiprocessing.Pool whose tasks take a minute each."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp
import time


def render(sec):
    t = time.time() + sec
    n = 0
    while time.time() < t:
        n += len(bytes(100000))
        time.sleep(0.05)
    return n


if __name__ == "__main__":
    kit.role("main")
    with mp.get_context("spawn").Pool(3) as p:
        print(p.map(render, [0.5] * 6), flush=True)
        print(p.map(render, [60, 61, 62], chunksize=1), flush=True)
