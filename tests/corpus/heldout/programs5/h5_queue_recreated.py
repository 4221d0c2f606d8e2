"""A prefetcher makes a new queue for each epoch; the thread still fills the old one."""
import queue
import threading

import kit5


class Prefetcher:
    def __init__(self):
        self.q = queue.Queue(3)
        threading.Thread(target=self.fill, args=(self.q,), daemon=True).start()

    def fill(self, q):
        n = 0
        while True:
            kit5.crunch(0.1)
            q.put(n)
            n += 1

    def reset(self):
        self.q = queue.Queue(3)


def train(rank, world, port):
    group, data = kit5.Butterfly(rank, world, port), Prefetcher()
    for step in range(1000):
        if step == 12 and rank == 2:
            data.reset()  # this rank has come to the end of its shard
        total = group.reduce(data.q.get())
        if rank == 0:
            print("step %d: %d" % (step, total), flush=True)


if __name__ == "__main__":
    kit5.ranks(4, train, "spawn")
