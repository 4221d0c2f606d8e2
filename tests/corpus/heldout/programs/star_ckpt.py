"""Rank 0 writes a checkpoint while the others wait for the sum."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import tempfile
import time

PAUSE = float(sys.argv[1])


def save_checkpoint(seconds):
    with tempfile.TemporaryFile() as f:
        end = time.time() + seconds
        while time.time() < end:
            f.write(os.urandom(200000))
            f.flush()
            os.fsync(f.fileno())
            f.seek(0)
            time.sleep(0.8)


def run():
    comm = kit.Star()
    kit.services(2)
    for i in range(30):
        kit.work(0.2)
        if i == 18 and kit.rank() == 0:
            save_checkpoint(PAUSE)
        comm.all_reduce(1.0)
        if kit.rank() == 0:
            kit.step(i)


kit.go(4, run)
