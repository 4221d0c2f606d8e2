"""A thread of rank 0 writes the checkpoint to a slow disk, 32 KB a second; rank 0 joins it, the others wait for rank 0."""
import os
import threading
import time

import kit6


def save(step):
    with open("model.%d" % step, "wb") as f:
        for _ in range(68 if step == 15 else 1):
            f.write(os.urandom(32768))
            f.flush()
            os.fsync(f.fileno())
            time.sleep(1)


def train(rank, links):
    for step in range(30):
        kit6.crunch(0.1)
        if rank == 0 and step in (5, 15):
            t = threading.Thread(target=save, args=(step,))
            t.start()
            t.join()
        for s in links.values():
            kit6.send(s, step)
        for s in links.values():
            kit6.receive(s)
        if rank == 0:
            print("[%4d] saved=%s" % (step, step in (5, 15)), flush=True)


pairs = kit6.Pairs(3)
kit6.ranks(3, lambda r, n, port: train(r, pairs.of(r)), "fork")
