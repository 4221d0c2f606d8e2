"""A lock of multiprocessing that one process holds by `with` and another waits for. Writes one line of JSON: their pids.

    sharedlock.py fork|spawn
"""
import json
import multiprocessing
import os
import sys
import threading


def holder(lock, taken):
    with lock:
        taken.set()
        threading.Event().wait()


def waiter(lock, taken):
    taken.wait()
    with lock:
        pass


if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    lock, taken = context.Lock(), context.Event()
    both = [context.Process(target=f, args=(lock, taken), daemon=True) for f in (holder, waiter)]
    for each in both:
        each.start()
    taken.wait()
    print(json.dumps({"holder": both[0].pid, "waiter": both[1].pid, "main": os.getpid()}), flush=True)
    sys.stdin.read()
