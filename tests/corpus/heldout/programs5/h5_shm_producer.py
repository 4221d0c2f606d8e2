"""Frames go through a ring in shared memory with two semaphores; the producer leaves at a corrupt video."""
import multiprocessing as mp
from multiprocessing import shared_memory

import kit5


def produce(name, free, filled):
    kit5.with_parent()
    kit5.role("producer")
    ring = shared_memory.SharedMemory(name)
    for n in range(60):
        free.acquire()
        kit5.crunch(0.15)
        if n == 41:
            print("moov atom not found", flush=True)
            break
        ring.buf[n % 4 * 1000] = n
        filled.release()


def main():
    kit5.role("main")
    ring = shared_memory.SharedMemory(create=True, size=4000)
    free, filled = mp.Semaphore(4), mp.Semaphore(0)
    mp.Process(target=produce, args=(ring.name, free, filled), daemon=True).start()
    try:
        for n in range(60):
            filled.acquire()
            frame = ring.buf[n % 4 * 1000]
            free.release()
            if n % 10 == 0:
                print("frame %d: %d" % (n, frame), flush=True)
    finally:
        ring.unlink()


main()
