"""Augmentation in a Pool; one task needs more memory than there is."""
import multiprocessing as mp
import os
import signal

import kit4


def started():
    kit4.with_parent()
    kit4.role("worker")


def augment(k):
    kit4.crunch(0.2)
    if k == 50:
        kit4.role("lost")
        os.kill(os.getpid(), signal.SIGKILL)
    return k * k


if __name__ == "__main__":
    kit4.role("main")
    with mp.get_context("fork").Pool(3, initializer=started) as pool:
        for part in range(0, 200, 20):
            rows = pool.map(augment, range(part, part + 20), chunksize=2)
            print("augmented %d rows, checksum %d" % (part + 20, sum(rows)), flush=True)
