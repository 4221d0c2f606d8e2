"""A background child of rank 0 keeps a descriptor with a file lock and sleeps."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import fcntl
import struct
import tempfile
import time

F_OFD_SETLKW = 38
LK = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)


def begin(path):
    f = open(path, "w")
    fcntl.fcntl(f, F_OFD_SETLKW, LK)
    if os.fork() == 0:
        kit.die_with_parent()
        kit.role("bg0")
        while True:
            time.sleep(600)
    f.close()


def finish(path):
    with open(path, "a") as f:
        fcntl.fcntl(f, F_OFD_SETLKW, LK)


def run():
    path = tempfile.mkdtemp() + "/run"
    comm = kit.Star()
    for i in range(1000):
        kit.work(0.25)
        if i == 13 and kit.rank() == 0:
            begin(path)
        finish(path)
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run)
