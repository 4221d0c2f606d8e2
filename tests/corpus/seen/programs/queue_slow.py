"""A loader thread decodes a long video for 65 s, the trainer waits in Queue.get."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import queue
import threading
import time
import zlib


def reader(q):
    for i in range(18):
        if i == 12:
            end = time.time() + kit.secs(65)
            while time.time() < end:
                zlib.decompress(zlib.compress(b"frame" * 20000))
                time.sleep(0.03)
        time.sleep(0.2)
        q.put(i)


def run():
    group = kit.Mesh()
    q = queue.Queue(2)
    threading.Thread(target=reader if kit.RANK == 1 else quick, args=(q,), daemon=True).start()
    for i in range(18):
        q.get()
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


def quick(q):
    for i in range(18):
        q.put(i)


kit.main(3, run)
