"""Rank 3 is asked by SIGUSR1 to save; the handler wants the lock that the interrupted code holds."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import signal
import threading
import time

state = threading.Lock()


def on_usr1(sig, frame):
    with state:
        open(kit.tmp("snapshot"), "w").close()


def run():
    signal.signal(signal.SIGUSR1, on_usr1)
    group = kit.Mesh()
    for i in range(1000):
        with state:
            time.sleep(0.3)
            if kit.RANK == 3 and i == 22:
                os.kill(os.getpid(), signal.SIGUSR1)
                time.sleep(0.2)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "iter")


kit.main(4, run)
