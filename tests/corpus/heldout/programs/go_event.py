"""Ranks wait for an event of a coordinator that was killed."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp
import signal
import time


def coordinator(ev):
    kit.die_with_parent()
    kit.role("coordinator")
    time.sleep(5)
    os.kill(os.getpid(), signal.SIGKILL)
    ev.set()


def trainer(r, ev):
    os.environ["RANK"] = str(r)
    kit.die_with_parent()
    kit.role("rank%d" % r)
    kit.services(1)
    for i in range(15):
        kit.work(0.3)
        kit.step(i)
    ev.wait()
    print("next epoch", flush=True)


if __name__ == "__main__":
    kit.role("main")
    ctx = mp.get_context("spawn")
    ev = ctx.Event()
    c = ctx.Process(target=coordinator, args=(ev,))
    ps = [ctx.Process(target=trainer, args=(r, ev)) for r in range(3)]
    c.start()
    [p.start() for p in ps]
    [p.join() for p in ps]
