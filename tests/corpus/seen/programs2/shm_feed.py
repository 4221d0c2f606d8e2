"""Rank 1 looks for its next batch in shared memory; behind its loader a feeder was stopped."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import struct
import time
from multiprocessing import shared_memory


def feed(w):
    while True:
        time.sleep(0.1)
        os.write(w, b"r" * 256)


def load(name, r):
    m = shared_memory.SharedMemory(name)
    n = 0
    while True:
        os.read(r, 256)
        n += 1
        while struct.unpack_from("<Q", m.buf, 8)[0] + 4 < n:
            time.sleep(0.01)
        struct.pack_into("<Q", m.buf, 0, n)


def run():
    group = kit.Ring()
    m = shared_memory.SharedMemory(create=True, size=64)
    r, w = os.pipe()
    pid = kit.fork_child(f"feeder{kit.RANK}", feed, w)
    kit.fork_child(f"loader{kit.RANK}", load, m.name, r)
    os.close(r)
    os.close(w)
    if kit.RANK == 1:
        kit.stop_after(pid, 9)
    for i in range(1000):
        while struct.unpack_from("<Q", m.buf, 0)[0] <= i:
            time.sleep(0.02)
        struct.pack_into("<Q", m.buf, 8, i)
        time.sleep(0.3)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "dict")


kit.main(3, run)
