"""The producer signals a multiprocessing Condition before the consumer has got to wait for it."""
import multiprocessing as mp
import time

import kit4


def consume(cond, box, n):
    kit4.with_parent()
    kit4.role("consumer")
    for i in range(n):
        if i == 10:
            time.sleep(1.5)
        with cond:
            cond.wait()
        kit4.crunch(0.05)
        print("consumed", i, box.value, flush=True)


if __name__ == "__main__":
    kit4.role("main")
    context = mp.get_context("fork")
    cond, box = context.Condition(), context.Value("i", 0)
    p = context.Process(target=consume, args=(cond, box, 12))
    p.start()
    time.sleep(0.5)
    for i in range(12):
        kit4.crunch(0.3)
        box.value = i
        with cond:
            cond.notify()
    p.join()
