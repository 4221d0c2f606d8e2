"""Two ranks; a step is an episode of 0.3 to 1.1 s, by chance on each."""
import random

import kit7


def train(rank, world, port):
    def before(step):
        kit7.disk(random.uniform(0.2, 1.0))
        kit7.work(0.06)
    kit7.loop(rank, kit7.Hub(rank, world, port), before, lambda s: "episode %d reward %.1f" % (s, s / 7), 180)


kit7.ranks(2, train, "slurm")
