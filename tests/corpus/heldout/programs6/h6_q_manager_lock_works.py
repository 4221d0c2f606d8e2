"""A worker computes for 63 s under the lock of a Manager, the other one waits for that lock."""
import multiprocessing as mp

import kit6


def work(k, lock):
    kit6.with_parent()
    for n in range(12):
        kit6.crunch(0.2)
        with lock:
            if (k, n) == (0, 8):
                kit6.compute(63)
            print("worker %d merged %d" % (k, n), flush=True)


if __name__ == "__main__":
    kit6.role("main")
    context = mp.get_context("fork")
    with context.Manager() as manager:
        lock = manager.Lock()
        workers = [context.Process(target=work, args=(k, lock)) for k in range(2)]
        for p in workers:
            p.start()
        for p in workers:
            p.join()
