import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

done = queue.Queue()
def writer():
    while True:
        path = done.get()
        with open("/dev/full", "wb", buffering=0) as f:
            f.write(b"x" * 4096)
t = threading.Thread(target=writer, name="ckpt-writer", daemon=True); t.start()
for k in range(10):
    steps(5, k * 5)
    done.put(f"step{k}.pt")
    if not t.is_alive():
        print("checkpoint writer is not running any more, stopping", flush=True)
        sys.exit(1)
