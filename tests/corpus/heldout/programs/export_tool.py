"""Rank 1 waits for a tool whose output nobody reads."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import subprocess

TOOL = "for i in range(%d):\n    print('row', i, 'x' * 80)\n"


def export(n):
    p = subprocess.Popen([sys.executable, "-c", TOOL % n], stdout=subprocess.PIPE)
    if n > 1000:
        kit.role("tool1", p.pid)
    p.wait()


def run():
    comm = kit.Star()
    for i in range(1000):
        kit.work(0.3)
        if kit.rank() == 1 and i in (5, 14):
            export(10 if i == 5 else 5000)
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run)
