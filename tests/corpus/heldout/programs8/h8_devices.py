"""A pool of four processes takes its devices from a queue with three numbers. The work is done by three; the pool cannot be closed."""
import multiprocessing as mp
import time
from concurrent.futures import ProcessPoolExecutor

import kit8

DEVICE = None


def begin(devices, counter):
    global DEVICE
    kit8.with_parent()
    with counter.get_lock():
        counter.value += 1
        name = "worker%d" % counter.value
    kit8.role(name)
    if name == "worker4":
        time.sleep(1)
    DEVICE = devices.get()


def embed(number):
    kit8.crunch(0.4)
    return number % 7


if __name__ == "__main__":
    kit8.role("main")
    mp.set_start_method("fork")
    devices, counter = mp.Queue(), mp.Value("i", 0)
    for d in range(3):
        devices.put(d)
    with ProcessPoolExecutor(4, initializer=begin, initargs=(devices, counter)) as pool:
        for n, score in enumerate(pool.map(embed, range(60))):
            print("embedded %d/60 (%d)" % (n + 1, score), flush=True)
    print("done")
