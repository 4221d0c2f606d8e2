"""Rank 2's workers took permits of a semaphore and left without giving them back."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp

ctx = mp.get_context("fork")


def decode(slots, bad):
    slots.acquire()
    if not bad:
        slots.release()


def run():
    comm = kit.Star()
    kit.services(1)
    slots = ctx.Semaphore(2)
    for i in range(1000):
        kit.work(0.3)
        if kit.rank() == 2 and i in (4, 8, 12):
            p = ctx.Process(target=decode, args=(slots, i > 4))
            p.start()
            p.join()
        with slots:
            pass
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run)
