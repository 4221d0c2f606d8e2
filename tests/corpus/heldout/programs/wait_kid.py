"""Rank 1 waits for a child that is paused. Args: services, copies."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import signal
import subprocess
import time

SRV, COPIES = map(int, sys.argv[1:3])


def convert():
    p = subprocess.Popen(["sleep", "2"])
    kit.role("tool1", p.pid)
    time.sleep(0.2)
    p.send_signal(signal.SIGSTOP)
    return p.wait()


def run():
    comm = kit.Ring()
    if SRV:
        kit.services(SRV)
    if COPIES:
        kit.copies()
    for i in range(1000):
        kit.work(0.25)
        if i == 15 and kit.rank() == 1:
            convert()
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(4, run)
