"""Open-file-description lock on a shard, held by a compactor that was stopped."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import fcntl
import signal
import struct
import time

F_OFD_SETLKW = 38


def lock(fd, kind):
    fcntl.fcntl(fd, F_OFD_SETLKW, struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0))


def compactor(path):
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    time.sleep(4)
    lock(fd, fcntl.F_WRLCK)
    os.kill(os.getpid(), signal.SIGSTOP)


def setup():
    kit.fork_child("compactor", compactor, kit.tmp("shard"))


def read_shard(fd):
    lock(fd, fcntl.F_RDLCK)
    time.sleep(0.01)
    lock(fd, fcntl.F_UNLCK)


def run():
    kit.services(2)
    group = kit.Ring()
    fd = os.open(kit.tmp("shard"), os.O_RDWR | os.O_CREAT)
    for i in range(1000):
        time.sleep(0.25)
        if kit.RANK == 1:
            read_shard(fd)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run, setup)
