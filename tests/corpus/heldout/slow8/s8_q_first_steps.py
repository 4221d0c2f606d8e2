"""Three workers compile in their first steps, which take 2 s, and are fast then."""
import kits8


def train(rank, n, port):
    def before(step):
        kits8.disk(1.8 if step < 12 else 0.3)
        kits8.work(0.06)
    kits8.loop(rank, kits8.Star(rank, n, port), before, lambda s: "Epoch 1/3, Step %d, Loss: %.4f" % (s, 3 / (1 + s / 40)), 170)


kits8.ranks(3, train)
