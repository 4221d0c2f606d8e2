"""A loader of rank 1 is killed in the middle of a big batch; its neighbour waits for the lock of the queue."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import multiprocessing as mp
import signal
import time


def load(q, k, name):
    kit.role(name)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    n = 0
    while True:
        time.sleep(0.3)
        n += 1
        if k == 0 and kit.RANK == 1 and n == 20:
            q.put(bytes(8 << 20))
            time.sleep(1)
            os.kill(os.getpid(), signal.SIGKILL)
        q.put(bytes(200))


def run():
    group = kit.Star()
    q = mp.get_context("fork").Queue()
    for k in range(2):
        mp.get_context("fork").Process(target=load, args=(q, k, f"loader{kit.RANK}_{k}"), daemon=True).start()
    for i in range(1000):
        q.get()                      # the loaders are faster: some batches wait in the pipe
        time.sleep(0.4)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "json")


kit.main(3, run)
