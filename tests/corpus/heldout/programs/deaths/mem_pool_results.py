"""The parent collects results of its workers and never lets go of them."""
from mem import *

role("main")
import multiprocessing as mp
def init():
    role("worker")
def work(i):
    return bytes(block(2))
if __name__ == "__main__":
    keep = []
    with mp.get_context("fork").Pool(2, initializer=init) as p:
        for r in p.imap(work, range(2000)):
            keep.append(r)
            time.sleep(0.02)
