"""A writer thread of rank 2 holds the state lock for 65 s and works; trainer and others wait."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import threading
import time
import zlib

state = threading.Lock()


def snapshot(n):
    with state:
        end = time.time() + n
        while time.time() < end:
            zlib.crc32(os.urandom(100000))
            time.sleep(0.05)


def run():
    kit.services(1)
    group = kit.Ring()
    for i in range(18):
        time.sleep(0.25)
        if i == 12 and kit.RANK == 2:
            threading.Thread(target=snapshot, args=(kit.secs(65),)).start()
            time.sleep(0.1)
        with state:
            pass
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
