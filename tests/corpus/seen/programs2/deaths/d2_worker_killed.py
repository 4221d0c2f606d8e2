import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

import multiprocessing as mp
def work():
    role("worker")
    time.sleep(30)
if __name__ == "__main__":
    p = mp.get_context("fork").Process(target=work); p.start()
    for i in range(400):
        log(i); time.sleep(0.05)
        if not p.is_alive():
            raise RuntimeError(f"DataLoader worker (pid {p.pid}) is killed by signal: Killed. ")
