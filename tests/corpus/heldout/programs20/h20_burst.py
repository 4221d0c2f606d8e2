"""Three ranks; each asks a store of samples through a limit: a bucket of ten tokens that is filled by five a second.
From step 40 on rank 1 wants twelve at once, which are never in it. The others wait for rank 1 in a sum.

slow: the bucket is large enough, and filled so slowly that twelve take 48 s."""
import time

from kit20 import SLOW, STEPS, Mesh, crunch, main, told


class Bucket:
    def __init__(self, most, a_second):
        self.most, self.a_second, self.tokens, self.at = most, a_second, most, time.monotonic()

    def take(self, n):
        while True:
            now = time.monotonic()
            self.tokens = min(self.most, self.tokens + (now - self.at) * self.a_second)
            self.at = now
            if self.tokens >= n:
                self.tokens -= n
                return
            time.sleep(0.1)


def body(rank, world, port):
    mesh, bucket = Mesh(rank, world, port), Bucket(10, 5)
    for step in range(STEPS):
        n = 1
        if rank == 1 and step == 40:
            n = 12
            if SLOW:
                bucket = Bucket(12, 0.25)
                bucket.tokens = 0
        bucket.take(n)
        crunch(0.2)
        mesh.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)


main(3, body, "fork")
