"""Three workers meet at a Manager's barrier each round; worker 2 had no more rounds and left with 0."""
import multiprocessing as mp

import kit6


def work(k, barrier):
    kit6.with_parent()
    kit6.role("worker%d" % k)
    for n in range(20 if k == 2 else 200):
        kit6.crunch(0.2)
        barrier.wait()
        if k == 0:
            print("round", n, flush=True)


if __name__ == "__main__":
    kit6.role("main")
    context = mp.get_context("fork")
    with context.Manager() as manager:
        kit6.role("manager", manager._process.pid)
        barrier = manager.Barrier(3)
        workers = [context.Process(target=work, args=(k, barrier)) for k in range(3)]
        for p in workers:
            p.start()
        for p in workers:
            p.join()
