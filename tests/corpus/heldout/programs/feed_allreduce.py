"""Ranks sum over TCP; one rank's feeding thread has ended. Args: ranks, which, services, copies."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import queue
import threading

N, WHICH, SRV, COPIES = map(int, sys.argv[1:5])
batches = queue.Queue(maxsize=4)


def feeder(n):
    try:
        for i in range(n):
            batches.put([i] * 10)
        raise ValueError("bad sample")
    except ValueError:
        pass


def next_batch():
    return batches.get()


def run():
    comm = kit.Star()
    kit.services(SRV)
    if COPIES:
        kit.copies()
    threading.Thread(target=feeder, args=(18 if kit.rank() == WHICH else 10 ** 6,), daemon=True).start()
    for i in range(10 ** 6):
        next_batch()
        kit.work(0.25)
        comm.all_reduce(0.1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(N, run)
