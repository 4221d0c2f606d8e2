"""Workers of an executor load the vocabulary under a lock file, which the parent made and removes when the first result is there."""
import concurrent.futures
import os
import time

import kit5

LOCK = "vocab.lock"


def load():
    kit5.with_parent()
    kit5.role("worker")
    while True:
        try:
            os.close(os.open(LOCK, os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            time.sleep(0.2)
    os.unlink(LOCK)


def tokenize(n):
    return n * n


def main():
    kit5.role("main")
    os.close(os.open(LOCK, os.O_CREAT | os.O_EXCL))
    with concurrent.futures.ProcessPoolExecutor(2, initializer=load) as pool:
        first = pool.submit(tokenize, 0)
        print("warming up the pool", flush=True)
        first.result()
        os.unlink(LOCK)
        for n in pool.map(tokenize, range(100)):
            print(n)


main()
