"""Rank 1 forks a shuffler and reads its output to the end of file, with its own copy of the write end still open."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time


def shuffled(i):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(w, b"index " * 100)
        os._exit(0)
    if i < 14:
        os.close(w)
    os.waitpid(pid, 0)
    with os.fdopen(r, "rb") as f:
        return f.read()


def run():
    group = kit.Ring()
    for i in range(1000):
        time.sleep(0.3)
        if kit.RANK == 1:
            shuffled(i)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
