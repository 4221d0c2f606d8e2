"""Three processes tokenize shards from a queue, whose last entries are a None for each of them. When the queue is long a fourth one is
started, and its first shard takes half a minute, as its cache is cold: by then the three have taken a None each, it waits for another task,
and main for all four. Only a last line is printed, when it is through.

slow: the fourth one has its None as well; a last shard takes 66 s."""
import multiprocessing

from kit29 import SLOW, STALL, busy, crunch, role, with_parent

WORKERS = 3


def tokenize(index, tasks, results):
    with_parent()
    role("worker%d" % index)
    for shard in iter(tasks.get, None):
        crunch(30 if index == WORKERS and not SLOW else 0.9)
        if SLOW and shard == STALL - 1:
            busy(66)
        results.put((shard, index))


class Pool:
    def __init__(self, context):
        self.context, self.tasks, self.results = context, context.Queue(), context.Queue()
        self.processes = []
        for _ in range(WORKERS):
            self.grow()

    def grow(self):
        p = self.context.Process(target=tokenize, args=(len(self.processes), self.tasks, self.results))
        p.start()
        self.processes.append(p)

    def run(self, shards):
        for shard in range(shards):
            self.tasks.put(shard)
        for _ in range(WORKERS + SLOW):
            self.tasks.put(None)
        for done in range(shards):
            self.results.get()
            if done == 10 and self.tasks.qsize() > 30:
                self.grow()

    def close(self):
        for p in self.processes:
            p.join()


def main():
    role("main")
    pool = Pool(multiprocessing.get_context("fork"))
    pool.run(STALL)
    pool.close()
    print("tokenized %d shards" % STALL)


main()
