"""Half of the ranks work 60 s alone (phase A), the other half stand in poll for the hand-over."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import select
import time


def run():
    m = kit.Mesh()
    r = kit.rank()
    kit.services(2)
    for i in range(14):
        kit.work(0.2)
        m.all_reduce(1)
        if r == 0:
            kit.step(i)
    if r < 2:
        for _ in range(120):
            kit.work(0.5)
        kit.put(m.to[r + 2], "weights")
    else:
        p = select.poll()
        p.register(m.to[r - 2], select.POLLIN)
        p.poll()
        kit.take(m.to[r - 2])
    m.all_reduce(1)


kit.go(4, run, mesh=True)
