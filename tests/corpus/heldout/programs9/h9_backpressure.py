"""Pool.imap with a semaphore, so that at most eight tasks are on their way. A result that is filtered out does not give its place back."""
import multiprocessing
import threading
import time

import kit9

places = threading.Semaphore(8)


def tasks():
    for k in range(200):
        places.acquire()
        yield k


def tokenize(k):
    time.sleep(0.1)
    return None if k % 7 == 6 else k * 3


def begin():
    kit9.with_parent()
    kit9.role("worker%d" % (multiprocessing.current_process()._identity[0] - 1))


if __name__ == "__main__":
    kit9.role("main")
    with multiprocessing.Pool(2, begin) as pool:
        for got in pool.imap(tokenize, tasks()):
            if got is None:
                continue
            places.release()
            print("tokenized", got, flush=True)
