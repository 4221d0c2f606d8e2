"""Rank 0 saves its state to a slow disk, a little at a time; the others wait for the key of the save."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import time


def save(path):
    with open(path, "wb") as f:
        for _ in range(65):
            f.write(os.urandom(200_000))
            f.flush()
            os.fsync(f.fileno())
            time.sleep(kit.secs(1))
    os.unlink(path)


def run():
    store = kit.Store()
    for i in range(20):
        time.sleep(0.3)
        store.barrier(f"step/{i}")
        if i == 11:
            if kit.RANK == 0:
                save(kit.tmp("model.bin"))
                store.add("saved")
            store.wait("saved")
        if kit.RANK == 0:
            kit.log(i, "meter")
    store.barrier("bye")
    time.sleep(0.3)


kit.main(6, run)
