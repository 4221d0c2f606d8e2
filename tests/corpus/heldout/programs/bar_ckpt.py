"""Checkpoint by one of the workers; the rest stand in a barrier of multiprocessing."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp
import time


def trainer(r, gate):
    os.environ["RANK"] = str(r)
    kit.die_with_parent()
    kit.role("rank%d" % r)
    for i in range(20):
        kit.work(0.2)
        gate.wait()
        if r == 1:
            kit.step(i)
    if r == 2:
        t = time.time() + 62
        while time.time() < t:
            time.sleep(1.5)
            sum(range(20000))
    gate.wait()
    print("rank %d done" % r, flush=True)


if __name__ == "__main__":
    ctx = mp.get_context("fork")
    gate = ctx.Barrier(3)
    kit.role("main")
    ps = [ctx.Process(target=trainer, args=(r, gate)) for r in range(3)]
    [p.start() for p in ps]
    [p.join() for p in ps]
