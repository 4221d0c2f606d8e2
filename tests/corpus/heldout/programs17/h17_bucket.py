"""Two ranks. Rank 1 uploads shards through a limiter that gives tokens for 20 MB a second and keeps at most 40: a shard
of 64 MB waits for tokens that can never be there together. Rank 0 waits for rank 1 in the sum.

slow: it gives one MB a second and keeps 64."""
import time

from kit17 import SLOW, Chain, crunch, main, told


class Limiter:
    def __init__(self, rate, most):
        self.rate, self.most, self.tokens, self.at = rate, most, most, time.monotonic()

    def acquire(self, n):
        while True:
            now = time.monotonic()
            self.tokens = min(self.most, self.tokens + (now - self.at) * self.rate)
            self.at = now
            if self.tokens >= n:
                self.tokens -= n
                return
            time.sleep(0.25)


def body(rank, world, port):
    chain = Chain(rank, world, port)
    limiter = Limiter(1, 64) if SLOW else Limiter(20, 40)
    if SLOW:
        limiter.tokens = 40
    for step in range(60 if SLOW else 400):
        crunch(0.2)
        chain.mean("grad%d" % step, 0.1)
        if rank == 0:
            told(step)
        if rank == 1 and step % 20 == 0:
            limiter.acquire({0: 8, 20: 16}.get(step, 64) if step <= 40 else 1)


main(2, body, "env")
