"""Uneven data: three ranks stand at the last barrier for a minute, rank 3 still steps without lines."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
def run():
    r = kit.rank()
    m = kit.Mesh()
    n = 14 if r != 3 else 250
    for i in range(n):
        kit.work(0.28)
        if r == 0:
            kit.step(i)
    m.all_reduce(0)


kit.go(4, run, mesh=True)
