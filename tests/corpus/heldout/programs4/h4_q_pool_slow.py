"""A pool of three has one long task at the end; the other two workers are idle."""
import multiprocessing as mp

import kit4


def simulate(seconds):
    kit4.compute(seconds)
    return seconds


if __name__ == "__main__":
    kit4.role("main")
    with mp.get_context("fork").Pool(3, initializer=kit4.with_parent) as pool:
        results = pool.map(simulate, [1, 1, 2, 66], chunksize=1)
    print("simulated", results)
