"""Neighbours swap borders; at a refinement the borders are large and both send first."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
r, n = kit.rank(), kit.world()


def swap(m, other, size):
    kit.put(m.to[other], bytes(size))
    return kit.take(m.to[other])


def run():
    m = kit.Mesh()
    for i in range(1000):
        kit.work(0.25)
        size = 500
        if i == 15 and r in (1, 2):
            size = 8 << 20
        for other in (r - 1, r + 1):
            if 0 <= other < n:
                swap(m, other, size if {r, other} == {1, 2} else 500)
        kit.step(i)


kit.go(4, run, mesh=True)
