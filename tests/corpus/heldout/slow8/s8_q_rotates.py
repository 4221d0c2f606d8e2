"""Three workers; worker 2 rotates its logs each 60 steps, for 9 s, and the others wait."""
import kits8


def train(rank, n, port):
    def before(step):
        kits8.disk(9 if rank == 2 and step % 60 == 59 else 0.35)
        kits8.work(0.05)
    kits8.loop(rank, kits8.Star(rank, n, port), before, lambda s: "step %4d   loss %.4f   lr 1.0e-04" % (s, 3 / (1 + s / 40)), 180)


kits8.ranks(3, train, "pos")
