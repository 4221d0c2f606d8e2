"""Rank 3 wants to rebuild a shard index; the lock file was left behind by a process that was killed."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import signal
import time


class FileLock:
    def __init__(self, path):
        self.path = path

    def __enter__(self):
        while True:
            try:
                fd = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                os.write(fd, b"%d\n" % os.getpid())
                os.close(fd)
                return self
            except FileExistsError:
                time.sleep(0.25)

    def __exit__(self, *_):
        os.unlink(self.path)


def cleanup(path):
    with FileLock(path):
        os.kill(os.getpid(), signal.SIGKILL)


def run():
    group = kit.Ring()
    lock = kit.tmp(f"index{kit.RANK}.lock")
    for i in range(1000):
        time.sleep(0.4)
        if i == 15 and kit.RANK == 3:
            os.waitpid(kit.fork_child("cleanup3", cleanup, lock), 0)
        if i % 6 == 5:
            with FileLock(lock):
                time.sleep(0.05)
        group.barrier()


kit.main(5, run)
