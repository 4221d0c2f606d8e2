"""Weights in shared memory under a counter that is odd while they are written. One version is quantized for 62 s while it is written."""
import multiprocessing as mp
import time
from multiprocessing import shared_memory

import numpy as np

import kit8


def publish(name):
    kit8.with_parent()
    block = shared_memory.SharedMemory(name)
    data = np.ndarray(1025, np.int64, block.buf)
    for version in range(24):
        kit8.crunch(0.4)
        data[0] += 1
        if version == 14:
            kit8.compute(62)
        data[1:] = version
        data[0] += 1


def weights(data):
    while True:
        before = int(data[0])
        if before % 2 == 0:
            copy = data[1:].copy()
            if data[0] == before:
                return before // 2, copy
        time.sleep(0.01)


if __name__ == "__main__":
    mp.set_start_method("fork")
    block = shared_memory.SharedMemory(create=True, size=8200)
    data = np.ndarray(1025, np.int64, block.buf)
    learner = mp.Process(target=publish, args=(block.name,))
    learner.start()
    version, episode = 0, 0
    while version < 24:
        version, _ = weights(data)
        kit8.crunch(0.25)
        episode += 1
        print("episode %d: policy version %d, return %.1f" % (episode, version, episode * 0.7), flush=True)
    learner.join()
    del data
    block.close()
    block.unlink()
