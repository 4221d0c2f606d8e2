import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

import multiprocessing as mp
def work():
    role("worker")
    f = tempfile.TemporaryFile()
    f.truncate(1 << 20)
    m = mmap.mmap(f.fileno(), 1 << 20)
    time.sleep(1)
    f.truncate(0)
    m[8192]
if __name__ == "__main__":
    p = mp.get_context("fork").Process(target=work); p.start()
    for i in range(200):
        steps(1, i)
        if not p.is_alive():
            raise RuntimeError(f"DataLoader worker (pid {p.pid}) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.")
