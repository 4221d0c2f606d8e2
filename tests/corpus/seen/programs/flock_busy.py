"""Rank 1 waits for the lock of a dataset that a preparing child packs for 65 s under the lock."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import fcntl
import time
import zlib


def prepare(path):
    with open(path, "wb") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        time.sleep(0.3)
        for _ in range(int(kit.secs(65) * 10)):
            f.write(zlib.compress(os.urandom(10000)))
            f.flush()
            time.sleep(0.1)


def setup():
    kit.fork_child("prepare", prepare, kit.tmp("dataset"))
    time.sleep(0.2)


def run():
    group = kit.Star()
    if kit.RANK == 1:
        with open(kit.tmp("dataset"), "rb") as f:
            fcntl.flock(f, fcntl.LOCK_SH)
    group.barrier()
    for i in range(12):
        time.sleep(0.25)
        kit.step(i)


kit.main(3, run, setup)
