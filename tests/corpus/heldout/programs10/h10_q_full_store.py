"""A bounded queue is full: three producers wait until the consumer, which sorts what it has for a minute, takes more."""
import multiprocessing
import time

import kit10


def produce(k, queue):
    kit10.with_parent()
    kit10.role("producer%d" % k)
    for part in range(12):
        time.sleep(0.3)
        queue.put((k, part))


if __name__ == "__main__":
    kit10.role("main")
    fork = multiprocessing.get_context("fork")
    queue = fork.Queue(4)
    jobs = [fork.Process(target=produce, args=(k, queue)) for k in range(3)]
    for p in jobs:
        p.start()
    for n in range(36):
        print("part", queue.get(), flush=True)
        if n == 17:
            kit10.crunch(57)
    for p in jobs:
        p.join()
