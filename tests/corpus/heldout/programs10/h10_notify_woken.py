"""Workers wait for a condition of multiprocessing. One of them was killed while it waited; who tells them that there is work waits until all
whom he has woken have said so, the dead one too."""
import multiprocessing
import os
import signal
import time

import kit10


def worker(k, condition, count):
    kit10.with_parent()
    kit10.role("worker%d" % k)
    while True:
        with condition:
            condition.wait()
            count.value += 1


def main():
    kit10.role("main")
    fork = multiprocessing.get_context("fork")
    condition, count = fork.Condition(), fork.Value("i", 0)
    jobs = [fork.Process(target=worker, args=(k, condition, count)) for k in range(3)]
    for p in jobs:
        p.start()
    time.sleep(1)
    for batch in range(20):
        with condition:
            condition.notify_all()
        print("batch %d, %d parts done" % (batch, count.value), flush=True)
        time.sleep(0.3)
        if batch == 7:
            os.kill(jobs[1].pid, signal.SIGKILL)
            jobs[1].join()


main()
