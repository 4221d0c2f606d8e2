"""Main waits until 48 files are counted. Only those that were read well are; one was not."""
import threading
from concurrent.futures import ThreadPoolExecutor

import tqdm

import kit8

done, change = 0, threading.Condition()


def read(n):
    global done
    kit8.crunch(0.4)
    if n == 29:
        raise ValueError("part-29 has no header")
    with change:
        done += 1
        change.notify()


kit8.role("main")
pool, seen = ThreadPoolExecutor(2), 0
files = [pool.submit(read, n) for n in range(48)]
with tqdm.tqdm(total=48) as bar:
    while seen < 48:
        with change:
            change.wait_for(lambda: done > seen)
            bar.update(done - seen)
            seen = done
