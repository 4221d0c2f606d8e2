"""Four processes share a barrier; one ends early."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp


def trainer(r, gate):
    os.environ["RANK"] = str(r)
    kit.die_with_parent()
    kit.role("rank%d" % r)
    kit.services(2)
    for i in range(1000):
        kit.work(0.3)
        if r == 2 and i == 14:
            return
        gate.wait()
        if r == 0:
            kit.step(i)


if __name__ == "__main__":
    kit.role("main")
    ctx = mp.get_context("fork")
    gate = ctx.Barrier(4)
    ps = [ctx.Process(target=trainer, args=(r, gate)) for r in range(4)]
    [p.start() for p in ps]
    [p.join() for p in ps]
