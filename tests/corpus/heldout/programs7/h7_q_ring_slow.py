"""A ring of 16 slots in shared memory; its writer has no new data for 64 s, as its next file is downloaded by then."""
import time

import numpy as np

import kit7
from multiprocessing import Process, shared_memory


def write(name):
    kit7.with_parent()
    kit7.role("writer")
    ring = shared_memory.SharedMemory(name)
    counts = np.ndarray(2, np.int64, ring.buf)
    for n in range(300):
        while counts[0] - counts[1] >= 16:
            time.sleep(0.01)
        if n == 200:
            time.sleep(64)
        counts[0] += 1


if __name__ == "__main__":
    kit7.role("main")
    ring = shared_memory.SharedMemory(create=True, size=4096)
    counts = np.ndarray(2, np.int64, ring.buf)
    Process(target=write, args=(ring.name,), daemon=True).start()
    for done in range(300):
        while counts[0] == counts[1]:
            time.sleep(0.01)
        kit7.crunch(0.03)
        counts[1] += 1
        if done % 16 == 0:
            kit7.row(done, queue=int(counts[0] - counts[1]))
    ring.unlink()
