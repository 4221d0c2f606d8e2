"""Rank 2's helper was killed inside a lock that rank 2 wants. Args: services, copies."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp
import signal

SRV, COPIES = map(int, sys.argv[1:3])
ctx = mp.get_context("fork")


def refill(guard):
    kit.die_with_parent()
    kit.role("loader2")
    guard.acquire()
    os.kill(os.getpid(), signal.SIGKILL)


def run():
    comm = kit.Star()
    guard = ctx.Lock()
    if SRV:
        kit.services(SRV)
    if COPIES:
        kit.copies()
    for i in range(1000):
        kit.work(0.25)
        if i == 15 and kit.rank() == 2:
            p = ctx.Process(target=refill, args=(guard,))
            p.start()
            p.join()
        with guard:
            pass
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(4, run)
