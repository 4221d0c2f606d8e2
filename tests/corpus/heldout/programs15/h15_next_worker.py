"""A loader of three processes: indices go to them in turn, and batches are taken from them in turn. In each
epoch the turn of those that give begins at 0 again, that of those that take goes on; the first worker
asked has nothing to do."""
import multiprocessing
import time

from kit15 import crunch, me, role, told


class Loader:
    def __init__(self, n):
        fork = multiprocessing.get_context("fork")
        self.n, self.pipes, self.taken, self.given = n, [], 0, 0
        for w in range(n):
            mine, its = fork.Pipe()
            fork.Process(target=self.work, args=(w, its), daemon=True).start()
            its.close()
            self.pipes.append(mine)

    def work(self, w, pipe):
        me("worker%d" % w)
        for index in iter(pipe.recv, None):
            time.sleep(0.05)
            pipe.send([index] * 8)

    def epoch(self, length):
        self.given = 0
        for k in range(length):
            self.pipes[self.given % self.n].send(k)
            self.given += 1
            yield self.pipes[self.taken % self.n].recv()
            self.taken += 1


role("main")
loader, step = Loader(3), 0
for epoch, length in enumerate((60, 31, 30)):
    for batch in loader.epoch(length):
        crunch(0.06)
        told(step)
        step += 1
    print("epoch %d done" % epoch, flush=True)
