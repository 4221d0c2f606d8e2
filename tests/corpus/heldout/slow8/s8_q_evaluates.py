"""Two workers evaluate for 6 s each 40 steps, both of them."""
import kits8


def train(rank, n, port):
    def before(step):
        for _ in range(15 if step % 40 == 39 else 1):
            kits8.disk(0.33)
            kits8.work(0.06)
    kits8.loop(rank, kits8.Star(rank, n, port), before, lambda s: "[node 0] it=%04d loss=%.5f" % (s, 3 / (1 + s / 40)), 180)


kits8.ranks(2, train, "NODE_NO")
