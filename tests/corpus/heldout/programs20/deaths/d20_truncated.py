"""An image that was not downloaded to its end, which a worker of a pool finds."""
import concurrent.futures

from kitd20 import *


def decode(k):
    there = 4096 if k != 33 else 1044
    if there < 4096:
        raise OSError("image file is truncated (%d bytes not processed)" % (4096 - there))
    return k


if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for step, image in enumerate(pool.map(decode, range(60))):
            told(1, step)
