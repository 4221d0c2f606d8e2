"""Weights in shared memory under a counter that is odd while they are written. A thread of main kills a learner that stands still for 5 s, and it was within a write."""
import multiprocessing as mp
import threading
import time
from multiprocessing import shared_memory

import numpy as np

import kit8


def publish(name):
    kit8.with_parent()
    kit8.role("learner")
    block = shared_memory.SharedMemory(name)
    data = np.ndarray(1025, np.int64, block.buf)
    for version in range(1000):
        kit8.crunch(0.4)
        data[0] += 1
        for part in range(4):
            data[1 + part * 256:257 + part * 256] = version
            time.sleep(0.02 if version < 14 else 10 ** 5)
        data[0] += 1


def weights(data):
    while True:
        before = int(data[0])
        if before % 2 == 0:
            copy = data[1:].copy()
            if data[0] == before:
                return before // 2, copy
        time.sleep(0.01)


def guard(data, learner):
    since, last = time.time(), 0
    while time.time() - since < 5:
        time.sleep(0.5)
        if data[0] != last:
            since, last = time.time(), int(data[0])
    print("learner stands still, killing it", flush=True)
    learner.kill()
    learner.join()


if __name__ == "__main__":
    mp.set_start_method("fork")
    kit8.role("main")
    block = shared_memory.SharedMemory(create=True, size=8200)
    data = np.ndarray(1025, np.int64, block.buf)
    learner = mp.Process(target=publish, args=(block.name,))
    learner.start()
    threading.Thread(target=guard, args=(data, learner), daemon=True).start()
    for episode in range(10 ** 6):
        version, _ = weights(data)
        kit8.crunch(0.25)
        print("episode %d: policy version %d, return %.1f" % (episode, version, episode * 0.7), flush=True)
