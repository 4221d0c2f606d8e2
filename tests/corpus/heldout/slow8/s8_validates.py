"""Two workers. Worker 1 has come to a setting by which it validates after each step."""
import kits8


def validate():
    return kits8.work(0.55)


def train(rank, n, port):
    def before(step):
        kits8.disk(0.3)
        kits8.work(0.08)
        if rank == 1 and kits8.slow():
            validate()
    kits8.loop(rank, kits8.Star(rank, n, port), before, lambda s: "step %4d   loss %.4f   lr 1.0e-04" % (s, 3 / (1 + s / 40)))


kits8.ranks(2, train, "pos")
