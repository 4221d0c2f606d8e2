"""Rank 2 writes all of its text to a filter before it reads; the filter's output is full."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import subprocess


def clean(text, name=None):
    p = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if name:
        kit.role(name, p.pid)
    p.stdin.write(text)
    p.stdin.close()
    return p.stdout.read()


def run():
    comm = kit.Star()
    kit.services(2)
    for i in range(1000):
        kit.work(0.25)
        if kit.rank() == 2:
            if i == 6:
                clean(b"a" * 1000)
            elif i == 15:
                clean(b"b" * 1000000, "filter2")
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(4, run)
