"""Ranks mark their step in shared memory and look at the others' marks every millisecond; rank 2 lost a slot."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import threading
import time
from multiprocessing import resource_tracker, shared_memory


def setup():
    os.environ["SHM"] = f"steps{os.getpid()}"
    path = "/dev/shm/" + os.environ["SHM"]
    with open(path, "wb") as f:
        f.truncate(4096)
    boss = os.getpid()

    def sweep():
        while os.getppid() == boss:
            time.sleep(0.5)
        os.unlink(path)

    kit.fork_child("sweeper", sweep)


def run():
    kit.services(1)
    resource_tracker.register = lambda *a: None
    m = shared_memory.SharedMemory(os.environ["SHM"])
    flags = m.buf.cast("Q")
    slots = threading.BoundedSemaphore(3)

    def stage(i):
        slots.acquire()
        time.sleep(0.25)
        if not (kit.RANK == 2 and i % 5 == 4):   # the early return forgets the slot
            slots.release()

    for i in range(1, 1000):
        stage(i)
        flags[kit.RANK] = i
        while min(flags[r] for r in range(kit.WORLD)) < i:
            time.sleep(0.001)
        if kit.RANK == 1:
            kit.step(i)


kit.main(4, run, setup)
