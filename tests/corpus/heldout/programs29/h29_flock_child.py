"""Two ranks in a star share a cache of features under flock(). Rank 0 takes the lock, starts an uploader from within (subprocess with
close_fds=False, for the sake of another descriptor), and closes its file: the lock goes with the child, which waits on its
pipe for the next file. Rank 1 wants the lock.

slow: the child closes what it does not need; rank 0 fills the cache for 70 s under the lock."""
import fcntl
import subprocess
import sys

from kit29 import OWN, SLOW, STALL, STEPS, Model, Report, Star, busy, main, os, start, time


def upload():
    for name in sys.stdin:
        os.path.exists(name.strip())


class Cache:
    def __init__(self, rank):
        self.rank, self.uploader = rank, None

    def refresh(self, step):
        lock = os.open("cache.lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with open("cache.json", "w") as f:
            f.write('{"by": %d}' % self.rank)
        if self.rank == 0 and step == STALL:
            self.fill(lock)
        os.close(lock)

    def fill(self, lock):
        if SLOW:
            busy(70)
        os.set_inheritable(lock, not SLOW)
        self.uploader = start(OWN + ["upload"], "uploader", stdin=subprocess.PIPE, text=True, close_fds=False)
        self.uploader.stdin.write("cache.json\n")
        self.uploader.stdin.flush()


def body(rank, world, port):
    star, cache, model, report = Star(rank, world), Cache(rank), Model(rank), Report("file", rank)
    for step in range(1, STEPS + 1):
        model.update(star.mean("g%d" % step, model.gradient()))
        report(step, model.loss())
        if step % 20 == 0:
            time.sleep(0.4 * rank)
            cache.refresh(step)


if sys.argv[-1] == "upload":
    upload()
else:
    main(2, body)
