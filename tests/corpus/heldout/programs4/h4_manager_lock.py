"""A Manager's lock guards the shared vocabulary. A worker is killed while it has it."""
import multiprocessing as mp
import os
import signal

import kit4


def work(k, lock, words):
    kit4.with_parent()
    kit4.role("worker%d" % k)
    for i in range(500):
        kit4.crunch(0.1)
        lock.acquire()
        words["w%d" % (i % 20)] = k
        if k == 2 and i == 15:
            os.kill(os.getpid(), signal.SIGKILL)
        lock.release()
        if k == 0:
            print("merged %d" % i, flush=True)


if __name__ == "__main__":
    kit4.role("main")
    context = mp.get_context("fork")
    with context.Manager() as manager:
        kit4.role("manager", manager._process.pid)
        lock, words = manager.Lock(), manager.dict()
        procs = [context.Process(target=work, args=(k, lock, words)) for k in range(3)]
        for p in procs:
            p.start()
        for p in procs:
            p.join()
