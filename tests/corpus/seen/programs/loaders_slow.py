"""Loader processes that read from a slow medium: a batch every nine seconds; trainers wait in Queue.get."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import multiprocessing as mp
import time
import zlib


def loader(q, n):
    kit.role(f"loader{kit.RANK}")
    for i in range(n):
        end = time.time() + (0.2 if i < 10 else kit.secs(9))
        while time.time() < end:
            zlib.crc32(os.urandom(20000))
            time.sleep(0.05)
        q.put([i] * 10)


def run():
    group = kit.Mesh()
    q = mp.get_context("fork").Queue(2)
    p = mp.get_context("fork").Process(target=loader, args=(q, 17))
    p.start()
    for i in range(17):
        q.get()
        group.barrier()
        if kit.RANK == 1:
            kit.step(i)
    p.join()


kit.main(2, run)
