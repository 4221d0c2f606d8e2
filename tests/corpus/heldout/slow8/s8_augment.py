"""Three workers and a star. Worker 2 gets to larger images: its augmentation by numpy has more to do."""
import time

import numpy as np

import kits8


def augment(seconds):
    end, image = time.thread_time() + seconds, np.ones((96, 96, 3))
    while time.thread_time() < end:
        image = np.clip(np.roll(image, 3, axis=1) * 1.01, 0, 255)
    return image


def train(rank, n, port):
    def before(step):
        kits8.disk(0.3)
        augment(0.5 if rank == 2 and kits8.slow() else 0.06)
    kits8.loop(rank, kits8.Star(rank, n, port), before, lambda s: "Epoch 1/3, Step %d, Loss: %.4f" % (s, 3 / (1 + s / 40)))


kits8.ranks(3, train)
