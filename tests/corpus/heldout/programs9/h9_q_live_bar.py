"""The bar of h9_live_bar.py, drawn anew twice a second, over a loader that unpacks for 61 s."""
import subprocess
import sys
import threading
import time

import kit9


def load():
    for k in range(50):
        time.sleep(61 if k == 20 else 0.15)
        print("batch", k, flush=True)


def draw(state, begin):
    while True:
        time.sleep(0.5)
        sys.stderr.write("\r%3d/50 [elapsed %.1f s, rss %d MB]" % (state[0], time.monotonic() - begin, 412))
        sys.stderr.flush()


if sys.argv[1:]:
    load()
    sys.exit(0)
kit9.role("main")
loader = kit9.start([sys.executable, sys.argv[0], "load"], "loader", stdout=subprocess.PIPE)
state = [0]
threading.Thread(target=draw, args=(state, time.monotonic()), daemon=True).start()
for line in loader.stdout:
    kit9.crunch(0.05)
    state[0] += 1
