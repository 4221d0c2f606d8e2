"""A throttler stops rank 1's loader with SIGSTOP for 60 s and lets it go on."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import signal
import time


def produce(w):
    while True:
        os.write(w, b"item")
        time.sleep(0.1)


def throttle(pid):
    time.sleep(4)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(kit.secs(60))
    os.kill(pid, signal.SIGCONT)


def run():
    group = kit.Star()
    r, w = os.pipe()
    pid = kit.fork_child(f"loader{kit.RANK}", produce, w)
    os.close(w)
    if kit.RANK == 1:
        kit.fork_child("throttle", throttle, pid)
    for i in range(90):
        os.read(r, 4)
        time.sleep(0.08)
        group.barrier()
        if kit.RANK == 0 and i % 3 == 0:
            kit.step(i)
    os.kill(pid, signal.SIGKILL)


kit.main(3, run)
