"""Waits with a limit of 65 s, then goes on without the extra data."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import queue


def run():
    comm = kit.Star()
    kit.services(3)
    q = queue.Queue()
    for i in range(26):
        kit.work(0.2)
        if i == 16 and kit.rank() == 1:
            try:
                q.get(timeout=65)
            except queue.Empty:
                print("no extra samples, going on", flush=True)
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(4, run)
