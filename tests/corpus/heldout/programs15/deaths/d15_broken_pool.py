"""A watcher of memory kills a worker of a pool by SIGKILL; the pool is broken."""
import concurrent.futures
import multiprocessing

from kitd15 import *


def tokenize(k):
    time.sleep(0.1)
    return k


def watch(pid):
    role("watcher")
    time.sleep(6)
    os.kill(pid, signal.SIGKILL)
    time.sleep(60)


if __name__ == "__main__":
    role("main")
    fork = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=fork) as pool:
        pool.submit(tokenize, 0).result()
        pid = list(pool._processes)[0]
        fork.Process(target=watch, args=(pid,), daemon=True).start()
        for step in range(300):
            pool.submit(tokenize, step).result()
            told(1, step, 0)
