"""Asynchronous checkpoint: rank 0 joins its writer thread, which syncs pieces for 62 s."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import threading
import time


def write_pieces(n):
    with open(kit.tmp("state"), "wb") as f:
        for _ in range(n):
            f.write(b"s" * 50000)
            os.fsync(f.fileno())
            time.sleep(0.5)


def run():
    kit.services(1)
    group = kit.Star()
    t = None
    for i in range(20):
        time.sleep(0.25)
        if kit.RANK == 0 and i == 10:
            t = threading.Thread(target=write_pieces, args=(int(kit.secs(62) * 2),))
            t.start()
        if kit.RANK == 0 and i == 12:
            t.join()
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(4, run)
