"""Ranks share a dict by a manager; the manager's process is paused."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp
from multiprocessing import managers
import signal
import time


def trainer(r, d):
    os.environ["RANK"] = str(r)
    kit.die_with_parent()
    kit.role("rank%d" % r)
    for i in range(1000):
        kit.work(0.3)
        d[(r, i)] = 1
        kit.step(i)


if __name__ == "__main__":
    kit.role("main")
    ctx = mp.get_context("fork")
    m = managers.SyncManager(ctx=ctx)
    m.start(kit.die_with_parent)
    kit.role("manager", m._process.pid)
    d = m.dict()
    ps = [ctx.Process(target=trainer, args=(r, d)) for r in range(3)]
    [p.start() for p in ps]
    time.sleep(5)
    os.kill(m._process.pid, signal.SIGSTOP)
    [p.join() for p in ps]
