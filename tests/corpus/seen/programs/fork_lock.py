"""Rank 1 forks a new loader while its logging thread holds a lock; the loader logs first."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import threading
import time

log_lock = threading.Lock()


def log(text):
    with log_lock:
        time.sleep(0.02)


def chatter():
    while True:
        with log_lock:
            time.sleep(0.5)
        time.sleep(0.01)


def loader(w):
    log("loader starts")
    while True:
        os.write(w, b"batch")
        time.sleep(0.1)


def start_loader(name):
    r, w = os.pipe()
    kit.fork_child(name, loader, w)
    os.close(w)
    return r


def run():
    group = kit.Star()
    src = start_loader(f"old{kit.RANK}")
    for i in range(1000):
        if kit.RANK == 1 and i == 13:
            threading.Thread(target=chatter, daemon=True).start()
            time.sleep(0.3)
            src = start_loader("loader1")
        os.read(src, 5)
        time.sleep(0.2)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
