"""Three workers with augmentations of 0.2 to 0.6 s, by chance on each."""
import random

import kits8


def train(rank, n, port):
    def before(step):
        kits8.disk(random.uniform(0.2, 0.6))
        kits8.work(0.05)
    kits8.loop(rank, kits8.Star(rank, n, port), before, lambda s: '{"step": %d, "loss": %.4f}' % (s, 3 / (1 + s / 40)), 180)


kits8.ranks(3, train, "PART")
