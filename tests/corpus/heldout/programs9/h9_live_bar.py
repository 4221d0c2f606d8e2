"""A bar that a thread draws anew twice a second, with the time that went by. The steps do not move: the loader waits for a lock on a cache file
that a packer holds, which has long had nothing to do."""
import fcntl
import os
import subprocess
import sys
import threading
import time

import kit9


def pack():
    with open("cache.bin", "w") as f:
        fcntl.lockf(f, fcntl.LOCK_EX)
        time.sleep(100000)


def load():
    for k in range(60):
        time.sleep(0.15)
        if k == 14:
            with open("cache.bin", "r+") as f:
                fcntl.lockf(f, fcntl.LOCK_EX)
        print("batch", k, flush=True)


def draw(state, begin):
    while True:
        time.sleep(0.5)
        sys.stderr.write("\r%3d/60 [elapsed %.1f s, rss %d MB]" % (state[0], time.monotonic() - begin, 412))
        sys.stderr.flush()


if sys.argv[1:]:
    pack() if sys.argv[1] == "pack" else load()
    sys.exit(0)
kit9.role("main")
packer = kit9.start([sys.executable, sys.argv[0], "pack"], "packer")
while not os.path.exists("cache.bin"):
    time.sleep(0.05)
loader = kit9.start([sys.executable, sys.argv[0], "load"], "loader", stdout=subprocess.PIPE)
state = [0]
threading.Thread(target=draw, args=(state, time.monotonic()), daemon=True).start()
for line in loader.stdout:
    kit9.crunch(0.05)
    state[0] += 1
