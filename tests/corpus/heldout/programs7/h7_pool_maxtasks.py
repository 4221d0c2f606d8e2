"""The pool's own thread starts a new worker after 10 tasks, while the main thread holds the lock of the cache: the new worker has it, held by nobody."""
import multiprocessing as mp
import threading
import time

import kit7

cache, lock = {}, threading.Lock()


def tokenize(n):
    kit7.role("worker")
    with lock:
        cache[n] = n
    kit7.crunch(0.2)
    return n


if __name__ == "__main__":
    kit7.role("main")
    with mp.get_context("fork").Pool(1, maxtasksperchild=10) as pool:
        for n in range(1000):
            answer = pool.apply_async(tokenize, (n,))
            if n % 10 == 9 and n > 9:
                with lock:
                    time.sleep(1)
            answer.get()
            print("tokenized %d files" % (n + 1), end="\r\n", flush=True)
