"""Rank 0 waits in waitpid for an unpacking child which somebody has stopped."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import signal
import time


def unpack(i):
    def work():
        time.sleep(0.1)
        if i == 14:
            os.kill(os.getpid(), signal.SIGSTOP)
    os.waitpid(kit.fork_child("unpack0", work), 0)


def run():
    group = kit.Mesh()
    kit.idle_loaders(1)
    for i in range(1000):
        time.sleep(0.25)
        if kit.RANK == 0 and i % 7 == 0:
            unpack(i)
        group.barrier()
        if kit.RANK == 2:
            kit.step(i)


kit.main(3, run)
