"""A preparation before training: shards are fetched by a pool of threads, and a latch counts them down. The latch is counted in the branch
that has written a shard, and in the one that has caught an error - but not for a shard that was there already. Nothing is printed.

slow: all branches count; a shard takes 70 s, as its mirror is slow."""
import concurrent.futures
import threading

from kit29 import SLOW, STALL, STEPS, Model, busy, crunch, os, role


class Latch:
    def __init__(self, count):
        self.change, self.count = threading.Condition(), count

    def count_down(self):
        with self.change:
            self.count -= 1
            if self.count <= 0:
                self.change.notify_all()

    def wait(self):
        with self.change:
            while self.count > 0:
                self.change.wait()


def fetch(epoch, shard, latch):
    name = "shard-%d-%d" % (epoch, shard)
    try:
        if os.path.exists(name):
            if SLOW:
                latch.count_down()
            return name
        crunch(0.2)
        if SLOW and epoch == STALL // 8 and shard == 2:
            busy(70)
        with open(name, "w") as f:
            f.write("x" * 100)
    except OSError:
        latch.count_down()
        return None
    latch.count_down()
    return name


def main():
    role("main")
    model = Model()
    with concurrent.futures.ThreadPoolExecutor(2, "fetch") as pool:
        for epoch in range(STEPS // 8):
            shards = [0, 1, 2, 3]
            if epoch >= STALL // 8:
                shards[3] = 1
            latch = Latch(len(shards))
            for shard in shards:
                pool.submit(fetch, epoch, shard, latch)
            latch.wait()
            for _ in range(8):
                model.update(model.gradient())


main()
