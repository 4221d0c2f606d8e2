"""A loader of rank 1 forks a decoder while its statistics thread holds a lock; the decoder wants it first."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import threading
import time

stats = threading.Lock()


def flush_stats():
    while True:
        with stats:
            time.sleep(0.4)
        time.sleep(0.02)


def decode(w):
    with stats:
        pass
    while True:
        time.sleep(0.05)
        os.write(w, b"d" * 8)


def decoder(name):
    r, w = os.pipe()
    kit.fork_child(name, decode, w)
    os.close(w)
    return r


def load(w, name):
    src = decoder(name + "_a")
    for k in range(10 ** 6):
        if k == 24 and kit.RANK == 1:
            threading.Thread(target=flush_stats, daemon=True).start()
            time.sleep(0.2)
            os.close(src)
            src = decoder("decoder1_b")
        os.write(w, os.read(src, 8))


def run():
    r, w = os.pipe()
    kit.fork_child(f"loader{kit.RANK}", load, w, f"decoder{kit.RANK}")
    os.close(w)
    group = kit.Star()
    for i in range(1000):
        time.sleep(0.4)
        os.read(r, 8)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i)


kit.main(4, run)
