import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

role("main")
if os.fork() == 0:
    role("producer")
    kept = []
    for k in range(400):
        m = mmap.mmap(-1, 8 << 20); m.write(os.urandom(8 << 20)); kept.append(m)
        time.sleep(0.1)
big = hold(60)
steps(400, pause=0.1)
