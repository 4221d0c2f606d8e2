"""Workers count rows in a multiprocessing.Value under its lock; one leaves in the middle by os._exit(0)."""
import multiprocessing as mp
import os

import kit5


def parse(total, k):
    kit5.with_parent()
    kit5.role("worker%d" % k)
    for n in range(1000):
        kit5.crunch(0.1)
        with total.get_lock():
            total.value += 1
            if k == 1 and n == 30:
                os._exit(0)  # end of input
            if total.value % 20 == 0:
                print("rows:", total.value, flush=True)


def main():
    kit5.role("main")
    total = mp.Value("l", 0)
    procs = [mp.Process(target=parse, args=(total, k)) for k in range(3)]
    for p in procs:
        p.start()
    for p in procs:
        p.join()


main()
