"""Four forked ranks log by one queue of limited size, which a process writes to a file. That process was killed; soon the queue is full and
each rank waits in its logging."""
import logging
import logging.handlers
import multiprocessing
import os
import signal
import time

import kit10

N = 4


def writer(queue):
    kit10.with_parent()
    kit10.role("writer")
    with open("train.log", "w") as f:
        for k in range(1 << 30):
            f.write(queue.get().getMessage() + "\n")
            if k == 60:
                f.flush()
                os.kill(os.getpid(), signal.SIGKILL)


class Waiting(logging.handlers.QueueHandler):
    def enqueue(self, record):
        self.queue.put(record)


def train(rank, queue):
    kit10.with_parent()
    kit10.role("rank%d" % rank)
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(N))
    log = logging.getLogger("train")
    log.setLevel("INFO")
    log.addHandler(Waiting(queue))
    for s in range(400):
        time.sleep(0.05)
        log.info("rank %d step %d", rank, s)


if __name__ == "__main__":
    kit10.role("launcher")
    fork = multiprocessing.get_context("fork")
    queue = fork.Queue(80)
    jobs = [fork.Process(target=writer, args=(queue,)), *[fork.Process(target=train, args=(r, queue)) for r in range(N)]]
    for p in jobs:
        p.start()
    for p in jobs[1:]:
        p.join()
