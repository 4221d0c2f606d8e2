"""A pool of the kind of joblib sends the next task from the callback of the last; a callback has failed, main looks at a counter."""
import concurrent.futures as cf
import logging
import multiprocessing as mp
import time

import kit6

logging.basicConfig(filename="pool.log")


class Parallel:
    def __init__(self, pool, tasks):
        self.pool, self.tasks, self.done, self.todo = pool, iter(range(tasks)), 0, tasks
        for _ in range(2):
            self.dispatch()

    def dispatch(self):
        n = next(self.tasks, None)
        if n is not None:
            self.pool.submit(kit6.crunch, 0.2).add_done_callback(lambda done: self.completed(done, n))

    def completed(self, done, n):
        if n in (24, 31):
            raise AttributeError("'float' object has no attribute 'score'")
        self.done += 1
        print("[Parallel] done %d of %d" % (self.done, self.todo), flush=True)
        self.dispatch()


if __name__ == "__main__":
    kit6.role("main")
    with cf.ProcessPoolExecutor(2, mp.get_context("fork"), kit6.with_parent) as pool:
        p = Parallel(pool, 200)
        while p.done < p.todo:
            time.sleep(0.05)
