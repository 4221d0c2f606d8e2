"""The last tasks of a pool of processes take a minute each; main waits for the results in order."""
import concurrent.futures as cf
import multiprocessing as mp

import kit6


def fit(n):
    kit6.compute(64 if n >= 20 else 0.2)
    return n


if __name__ == "__main__":
    kit6.role("main")
    with cf.ProcessPoolExecutor(2, mp.get_context("spawn")) as pool:
        for n in pool.map(fit, range(22)):
            print("fitted", n, flush=True)
