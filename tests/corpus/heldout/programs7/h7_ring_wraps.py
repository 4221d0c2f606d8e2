"""A ring of 16 slots in shared memory. The reader keeps its count in a byte: after 256 it is 0 again, the ring is full for the writer and empty for the reader."""
import time

import numpy as np

import kit7
from multiprocessing import Process, shared_memory


def write(name):
    kit7.with_parent()
    kit7.role("writer")
    ring = shared_memory.SharedMemory(name)
    heads, read = np.ndarray(1, np.int64, ring.buf), np.ndarray(1, np.uint8, ring.buf, 8)
    while True:
        while heads[0] - int(read[0]) >= 16:
            time.sleep(0.01)
        heads[0] += 1


if __name__ == "__main__":
    kit7.role("main")
    ring = shared_memory.SharedMemory(create=True, size=4096)
    heads, read = np.ndarray(1, np.int64, ring.buf), np.ndarray(1, np.uint8, ring.buf, 8)
    Process(target=write, args=(ring.name,), daemon=True).start()
    ring.unlink()
    done = 0
    while True:
        while not 0 < heads[0] - int(read[0]) <= 16 or done >= 256:
            time.sleep(0.01)
        kit7.crunch(0.03)
        done += 1
        read += np.uint8(1)
        if done % 16 == 0:
            kit7.row(done, queue=int(heads[0] - done))
