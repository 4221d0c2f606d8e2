"""Four forked ranks meet at a barrier; rank 2 first wants the file lock of the cache, held by a stopped cleaner."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import fcntl
import multiprocessing as mp
import signal
import tempfile
import time


def cleaner(path):
    kit.role("cleaner")
    with open(path, "w") as f:
        time.sleep(3.5)
        fcntl.flock(f, fcntl.LOCK_EX)
        os.kill(os.getpid(), signal.SIGSTOP)


def train(rank, path, gate):
    os.environ.update(RANK=str(rank), WORLD_SIZE="4", LOCAL_RANK=str(rank))
    kit.role(f"rank{rank}")
    kit.services(2)
    cache = open(path, "w")
    for i in range(1000):
        time.sleep(0.3)
        if rank == 2 and i % 4 == 0:
            fcntl.flock(cache, fcntl.LOCK_EX)
            fcntl.flock(cache, fcntl.LOCK_UN)
        gate.wait()
        if rank == 0:
            kit.step(i)


def main():
    kit.role("launcher")
    ctx = mp.get_context("fork")
    gate = ctx.Barrier(4)
    with tempfile.TemporaryDirectory() as d:
        path = d + "/cache.lock"
        ps = [ctx.Process(target=cleaner, args=(path,))]
        ps += [ctx.Process(target=train, args=(r, path, gate)) for r in range(4)]
        for p in ps:
            p.start()
        signal.signal(signal.SIGTERM, lambda *_: (kit.end_tree(), sys.exit(143)))
        for p in ps:
            p.join()


main()
