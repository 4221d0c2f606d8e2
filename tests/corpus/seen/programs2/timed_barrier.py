"""Forked ranks meet at a shared barrier with a limit of 120 s; one of them unpacks its shard for 66 s. Quiet."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import multiprocessing as mp
import signal
import time


def work(rank, meet):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ["RANK"] = str(rank)
    kit.role(f"rank{rank}")
    for i in range(16):
        time.sleep(0.3)
        if rank == 2 and i == 9:
            end = time.time() + kit.secs(66)
            while time.time() < end:
                sum(range(20000))
                time.sleep(0.02)
        meet.wait(120)


if __name__ == "__main__":
    kit.role("launcher")
    signal.signal(signal.SIGTERM, lambda *_: (kit.end_tree(), os._exit(143)))
    ctx = mp.get_context("fork")
    meet = ctx.Barrier(4)
    ps = [ctx.Process(target=work, args=(r, meet)) for r in range(4)]
    for p in ps:
        p.start()
    for p in ps:
        p.join()
    sys.exit(max(p.exitcode for p in ps))
