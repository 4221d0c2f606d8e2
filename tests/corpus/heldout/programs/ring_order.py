"""A ring where at an epoch's end all ranks receive before they send. Args: ranks, services, copies."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
N, SRV, COPIES = map(int, sys.argv[1:4])


def exchange(ring, x):
    kit.put(ring.right, x)
    return kit.take(ring.left)


def exchange_last(ring, x):
    y = kit.take(ring.left)
    kit.put(ring.right, x)
    return y


def run():
    ring = kit.Ring()
    if SRV:
        kit.services(SRV)
    if COPIES:
        kit.copies()
    for i in range(100):
        kit.work(0.3)
        (exchange_last if i == 16 else exchange)(ring, bytes(100))
        kit.step(i)


kit.go(N, run)
