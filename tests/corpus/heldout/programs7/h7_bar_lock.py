"""Two workers and main draw tqdm's bars under a common lock between processes. Worker 1 was killed while it drew."""
import multiprocessing as mp
import os
import signal

from tqdm import tqdm

import kit7


def work(k, lock):
    kit7.with_parent()
    kit7.role("worker%d" % k)
    tqdm.set_lock(lock)
    for n in tqdm(range(1000), desc="worker %d" % k, position=k, mininterval=0, miniters=1):
        kit7.crunch(0.2)
        if k == 1 and n == 25:
            with tqdm.get_lock():
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    kit7.role("main")
    tqdm.monitor_interval = 0
    lock = mp.RLock()
    procs = [mp.Process(target=work, args=(k, lock)) for k in (1, 2)]
    for p in procs:
        p.start()
    for p in procs[::-1]:
        p.join()
