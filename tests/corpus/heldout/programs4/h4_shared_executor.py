"""A process pool prepares shards; tasks wait for a token that only a task behind them returns."""
import concurrent.futures
import multiprocessing as mp

import kit4

tokens = mp.get_context("fork").Semaphore(0)


def born():
    kit4.with_parent()
    kit4.role("worker")


def prepare(k):
    kit4.crunch(0.2)
    if k % 3 == 2:
        tokens.release()
        tokens.release()
    elif k >= 24 or k % 3 == 0:
        tokens.acquire()
    return k


if __name__ == "__main__":
    kit4.role("main")
    with concurrent.futures.ProcessPoolExecutor(2, mp.get_context("fork"), born) as pool:
        order = [2, 0, 1, 5, 3, 4, 8, 6, 7, 11, 9, 10, 14, 12, 13]
        for k in pool.map(prepare, order + [24, 25, 24, 25, 24, 25, 24, 25, 24, 25, 24, 25, 24, 25, 24, 25, 24, 25, 24, 25, 24, 25, 26]):
            print("shard %d prepared" % k, flush=True)
