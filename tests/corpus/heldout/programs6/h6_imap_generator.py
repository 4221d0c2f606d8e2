"""The tasks of a pool come from a generator that reads a queue; the thread that lists files has stopped putting. All workers idle."""
import multiprocessing as mp
import queue
import threading

import kit6


def parse(n):
    kit6.crunch(0.2)
    return n


def lists(files):
    for n in range(30):
        files.put(n)


def names(files):
    while True:
        n = files.get()
        if n is None:
            return
        yield n


if __name__ == "__main__":
    kit6.role("main")
    files = queue.Queue()
    threading.Thread(target=lists, args=(files,)).start()
    with mp.get_context("fork").Pool(3, kit6.with_parent) as pool:
        for n in pool.imap_unordered(parse, names(files)):
            print("parsed", n, flush=True)
