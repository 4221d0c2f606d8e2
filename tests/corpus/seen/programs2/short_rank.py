"""Four forked ranks at a shared barrier; rank 3 has less data and has left in peace."""
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
    for i in range(18 if rank == 3 else 1000):
        time.sleep(0.4)
        meet.wait()
        if rank == 0:
            kit.log(i, "info")


if __name__ == "__main__":
    kit.role("launcher")
    signal.signal(signal.SIGTERM, lambda *_: (kit.end_tree(), os._exit(143)))
    meet = mp.get_context("fork").Barrier(4)
    kids = [mp.get_context("fork").Process(target=work, args=(r, meet)) for r in range(4)]
    for k in kids:
        k.start()
    for k in kids:
        k.join()
