from kitd6 import *
import concurrent.futures as cf
import multiprocessing as mp
def work(n):
    if n == 0:
        role("worker")
        time.sleep(60)
    time.sleep(0.3)
    return n
if __name__ == "__main__":
    with cf.ProcessPoolExecutor(2, mp.get_context("fork")) as pool:
        futures = [pool.submit(work, n) for n in range(60)]
        for f in cf.as_completed(futures):
            print("scored", f.result(), flush=True)
