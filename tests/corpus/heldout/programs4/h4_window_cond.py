"""A window of batches in flight: the trainer of rank 3 waits for room, the thread that made room left after an error."""
import threading

import kit4


class Window:
    def __init__(self, size):
        self.cond, self.size, self.used = threading.Condition(), size, 0

    def enter(self):
        with self.cond:
            self.cond.wait_for(lambda: self.used < self.size)
            self.used += 1

    def leave(self):
        with self.cond:
            self.used -= 1
            self.cond.notify()


def train(rank, world, port):
    tree, window, limit = kit4.Tree(rank, world, port), Window(3), 25 if rank == 3 else 10 ** 6
    work = threading.Semaphore(0)

    def copier():
        for k in range(limit):
            work.acquire()
            window.leave()
    threading.Thread(target=copier, daemon=True).start()
    for i in range(500):
        window.enter()
        work.release()
        kit4.crunch(0.15)
        tree.reduce(rank)
        if rank == 0:
            print("%d/500" % i, end="\r", flush=True)


kit4.main(5, train)
