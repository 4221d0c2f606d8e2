"""Three ranks by fork, sums in shared memory (Array), and a barrier of one's own: a counter that each rank raises, and is through at three
times the round. The counter is a RawValue without a lock; the profiler's line between reading and writing makes the window wide. At
some step two ranks read the same number: one arrival is lost, and all look for a number that does not come.

slow: the counter is raised under a lock; rank 1 rebuilds its index for 66 s."""
import multiprocessing
import multiprocessing.sharedctypes

from kit29 import SLOW, STALL, STEPS, Model, Report, busy, crunch, os, role, time, with_parent

WORLD = 3


class Shared:
    def __init__(self, context):
        self.arrived = multiprocessing.sharedctypes.RawValue("q", 0)
        self.gradients = multiprocessing.sharedctypes.RawArray("d", WORLD)
        self.lock = context.Lock()
        self.window = context.Barrier(2)
        self.rounds = 0

    def arrive(self, rank, step):
        if SLOW or step != STALL:
            with self.lock:
                self.arrived.value += 1
            return
        seen = self.arrived.value
        if rank < 2:
            self.window.wait()
            crunch(0.02)
        else:
            crunch(1)
            seen = self.arrived.value
        self.arrived.value = seen + 1

    def barrier(self, rank, step):
        self.rounds += 1
        self.arrive(rank, step)
        while self.arrived.value < self.rounds * WORLD:
            time.sleep(0.002)


def train(rank, shared):
    with_parent()
    role("rank%d" % rank)
    os.environ["RANK"] = str(rank)
    model, report = Model(rank), Report("stderr", rank)
    for step in range(STEPS):
        if SLOW and rank == 1 and step == STALL:
            busy(66)
        shared.gradients[rank] = model.gradient()
        shared.barrier(rank, step)
        model.update(sum(shared.gradients) / WORLD)
        shared.barrier(rank, -1)
        if rank == 0:
            report(step, model.loss())


def main():
    role("launcher")
    context = multiprocessing.get_context("fork")
    shared = Shared(context)
    ranks = [context.Process(target=train, args=(r, shared), name="rank-%d" % r) for r in range(WORLD)]
    for p in ranks:
        p.start()
    for p in ranks:
        p.join()


main()
