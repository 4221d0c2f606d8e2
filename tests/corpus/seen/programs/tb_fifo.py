"""Rank 0 writes summaries to a FIFO; its reader was stopped."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import signal
import time


def tailer(path):
    f = open(path, "rb", buffering=0)
    got = 0
    while True:
        got += len(f.read(4096))
        if got > 100_000:
            os.kill(os.getpid(), signal.SIGSTOP)


def setup():
    os.mkfifo(kit.tmp("summary"))
    kit.fork_child("tailer", tailer, kit.tmp("summary"))


def run():
    kit.services(1)
    group = kit.Star()
    if kit.RANK == 0:
        out = open(kit.tmp("summary"), "wb", buffering=0)
        kit.idle_loaders(2)
    for i in range(1000):
        time.sleep(0.25)
        if kit.RANK == 0:
            out.write(b"scalar loss\n" * 800)
            kit.step(i)
        group.barrier()


kit.main(3, run, setup)
