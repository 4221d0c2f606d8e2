"""A loader's thread meets bytes that are no UTF-8; main sees that it has stopped, and leaves with 1."""
import queue
import threading

from kitd15 import *

batches = queue.Queue(4)


def load():
    for k in range(200):
        batches.put((b"caf\xe9" if k == 65 else b"cafe").decode())


role("main")
thread = threading.Thread(target=load, name="loader", daemon=True)
thread.start()
for step in range(200):
    while True:
        try:
            batches.get(timeout=0.5)
            break
        except queue.Empty:
            if not thread.is_alive():
                print("error: loader stopped unexpectedly", flush=True)
                sys.exit(1)
    told(1, step)
