"""Two ranks share a file of numbers (numpy.memmap): each puts its step and its gradient there and looks until the other's step equals its own.
When both gradients are small, rank 0 skips the exchange and is a step ahead in one go: it writes k + 1 while rank 1 looks for k, and
k does not come again. Both look, fifty times a second, and print nothing.

slow: no step is skipped; rank 1 sorts its samples by length for 70 s."""
import numpy

from kit29 import SLOW, STALL, STEPS, Model, busy, main, os, time


class Mailbox:
    def __init__(self, rank):
        self.rank = rank
        if rank == 0:
            numpy.zeros((2, 2)).tofile("mailbox.new")
            os.rename("mailbox.new", "mailbox")
        while not os.path.exists("mailbox"):
            time.sleep(0.05)
        self.rows = numpy.memmap("mailbox", dtype="float64", mode="r+", shape=(2, 2))

    def exchange(self, step, gradient):
        self.rows[self.rank, 1] = gradient
        self.rows[self.rank, 0] = step
        other = 1 - self.rank
        while self.rows[other, 0] not in (step, step + 0.5):
            time.sleep(0.02)
        theirs = float(self.rows[other, 1])
        self.seen(step)
        return (gradient + theirs) / 2

    def seen(self, step):
        """Both have read it: half a step is added."""
        other = 1 - self.rank
        self.rows[self.rank, 0] = step + 0.5
        while self.rows[other, 0] < step + 0.5:
            time.sleep(0.005)


def body(rank, world, port):
    box, model = Mailbox(rank), Model(rank)
    for step in range(1, STEPS + 1):
        if SLOW and rank == 1 and step == STALL:
            busy(70)
        gradient = model.gradient()
        if rank == 0 and step == STALL and not SLOW:
            continue
        model.update(box.exchange(step, gradient))


main(2, body)
