"""A process of a pool meets a cut-off image; main gets its error."""
import multiprocessing

from kitd14 import *


def decode(k):
    time.sleep(0.2)
    if k == 80:
        raise OSError("image file is truncated (17 bytes not processed): val_00080.jpg")
    return k


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for step, _ in enumerate(pool.imap(decode, range(200))):
            told(1, step, 0.01)
