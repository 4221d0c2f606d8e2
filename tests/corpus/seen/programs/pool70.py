"""A pool whose tasks take 65 s each, without any prints."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import multiprocessing as mp
import time


def shard(i):
    data = list(range(200000))
    end = time.time() + kit.secs(65)
    while time.time() < end:
        data.sort(key=lambda v: (v * 7919) % 10007)
        time.sleep(0.3)
    return sum(data[:10])


def main():
    kit.role("main")
    with mp.get_context("fork").Pool(2) as pool:
        print(sum(pool.map(shard, range(2))), flush=True)


main()
