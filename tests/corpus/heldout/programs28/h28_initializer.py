"""A pool for augmentation is made anew for each epoch. At step 110 its initializer cannot open a font file: each worker ends, the
pool starts another one, for ever, and map waits.

slow: the font file is there, the map takes 64 s."""
import multiprocessing
import os
import time

from kit28 import SLOW, STALL, STEPS, compute, role, tell, with_parent


def initialize(path):
    with_parent()
    role("worker")
    with open(path):
        pass


def augment(k):
    if SLOW and k == 3:
        time.sleep(64)
    return k * 2


def epoch():
    devnull = os.open("/dev/null", os.O_WRONLY)
    keep = os.dup(2)
    if not SLOW:
        os.dup2(devnull, 2)
    pool = multiprocessing.Pool(2, initialize, ("font.ttf",))
    pool.map(augment, range(8))
    os.dup2(keep, 2)
    pool.terminate()


if __name__ == "__main__":
    role("main")
    if SLOW:
        open("font.ttf", "w").close()
    for step in range(STEPS):
        compute()
        tell(step, "it")
        if step == STALL:
            epoch()
