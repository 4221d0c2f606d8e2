"""Rank 2 keeps the cache's lock while it waits for rank 0, which wants the lock."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import contextlib
import fcntl
import tempfile
import time

r = kit.rank()


def before(env):
    env["CACHE"] = tempfile.mkdtemp() + "/cache.lock"


@contextlib.contextmanager
def cache():
    with open(os.environ["CACHE"], "a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield f


def run():
    comm = kit.Star()
    for i in range(1000):
        kit.work(0.25)
        if i == 15 and r == 2:
            with cache():
                comm.all_reduce(1)
        else:
            if i == 15:
                time.sleep(0.5)
            if r == 0:
                with cache() as f:
                    f.write("x")
            comm.all_reduce(1)
        if r == 0:
            kit.step(i)


kit.go(3, run, before=before)
