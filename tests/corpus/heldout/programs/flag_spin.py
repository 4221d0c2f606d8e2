"""Ranks spin on flags in shared memory; rank 1 wants a record lock that its stager keeps while it sleeps."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import fcntl
import tempfile
import time
from multiprocessing import shared_memory

r = kit.rank()


def before(env):
    shm = shared_memory.SharedMemory(create=True, size=64)
    env["SHM"] = shm.name
    env["LOCKF"] = tempfile.mkdtemp() + "/stage"
    if os.fork() == 0:
        kit.die_with_parent()
        kit.role("unlinker")
        time.sleep(3)
        shm.unlink()
        time.sleep(100000)


def stager(path):
    if os.fork() == 0:
        kit.die_with_parent()
        kit.role("stager1")
        f = open(path, "w")
        fcntl.lockf(f, fcntl.LOCK_EX)
        while True:
            time.sleep(3600)


def stage(path):
    with open(path, "a") as f:
        fcntl.lockf(f, fcntl.LOCK_EX)


def arrive(buf, i):
    buf[r] = i
    while min(buf[0:3]) < i:
        pass


def run():
    s = shared_memory.SharedMemory(name=os.environ["SHM"])
    for i in range(1, 200):
        kit.work(0.3)
        if r == 1:
            if i == 14:
                stager(os.environ["LOCKF"])
                time.sleep(0.5)
            stage(os.environ["LOCKF"])
        arrive(s.buf, i)
        if r == 0:
            kit.step(i)


kit.go(3, run, before=before)
