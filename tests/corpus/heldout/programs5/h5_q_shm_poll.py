"""A reader looks each millisecond into shared memory for the next batch; the producer computes it for 62 s."""
import multiprocessing as mp
import time
from multiprocessing import shared_memory

import kit5


def produce(name):
    kit5.with_parent()
    kit5.role("producer")
    ring = shared_memory.SharedMemory(name)
    for n in range(1, 7):
        kit5.compute(62 if n == 4 else 0.3)
        ring.buf[0] = n


def main():
    kit5.role("main")
    ring = shared_memory.SharedMemory(create=True, size=100)
    mp.Process(target=produce, args=(ring.name,), daemon=True).start()
    try:
        for n in range(1, 7):
            while ring.buf[0] < n:
                time.sleep(0.001)
            print("batch", n, flush=True)
    finally:
        ring.unlink()


main()
