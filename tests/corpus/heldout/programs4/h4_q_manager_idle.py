"""Workers wait at a Manager's queue for tasks that the parent makes slowly."""
import multiprocessing as mp
import time

import kit4


def work(tasks, k):
    kit4.with_parent()
    kit4.role("worker%d" % k)
    while tasks.get() is not None:
        kit4.crunch(0.2)


if __name__ == "__main__":
    kit4.role("main")
    context = mp.get_context("fork")
    with context.Manager() as manager:
        tasks = manager.Queue()
        procs = [context.Process(target=work, args=(tasks, k)) for k in range(3)]
        for p in procs:
            p.start()
        for k in range(6):
            tasks.put(k)
            print("task %d" % k, flush=True)
            kit4.compute(30) if k in (2, 4) else time.sleep(0.5)
        for _ in procs:
            tasks.put(None)
        for p in procs:
            p.join()
