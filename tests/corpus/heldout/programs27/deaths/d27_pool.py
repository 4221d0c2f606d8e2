"""A worker of a pool finds a broken clip; map() raises its error again, with the worker's traceback."""
import multiprocessing

from kitd27 import role, steps


def decode(k):
    if k == 412:
        raise ValueError("clip-00412.mp4: moov atom not found")
    return k


if __name__ == "__main__":
    role("main")
    steps(20)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(decode, range(600))
