"""Three workers. Worker 0 has begun to compress its state in each step."""
import time
import zlib

import kits8

STATE = bytes(range(256)) * 600


def save_compressed(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        size = len(zlib.compress(STATE, 9))
    with open("state.z", "wb") as f:
        f.write(b"z" * size)


def train(rank, n, port):
    def before(step):
        kits8.disk(0.3)
        kits8.work(0.06)
        if rank == 0 and kits8.slow():
            save_compressed(0.5)
    kits8.loop(rank, kits8.Star(rank, n, port), before, lambda s: "{:>6} | {:.4f} | lr 3e-4".format(s, 3 / (1 + s / 40)))


kits8.ranks(3, train)
