"""A trainer has a pool of threads within a `with`, for uploads and for a heartbeat, which beats until it is told to
stop. That is done behind the `with`, whose end waits for all that runs in the pool.

slow: the heartbeat is stopped within, and an upload takes 48 s."""
import threading
from concurrent.futures import ThreadPoolExecutor

from kit19 import SLOW, busy, crunch, role, told


def beat(stop):
    while not stop.wait(5):
        with open("heartbeat", "a") as f:
            f.write("alive\n")


def upload(step):
    crunch(0.1)
    if SLOW and step == 40:
        busy(48)


def train():
    role("main")
    stop = threading.Event()
    with ThreadPoolExecutor(3) as pool:
        pool.submit(beat, stop)
        for step in range(45):
            crunch(0.2)
            told(step)
            if step % 10 == 0:
                pool.submit(upload, step)
        if SLOW:
            stop.set()
    stop.set()
    print("finished", flush=True)


train()
