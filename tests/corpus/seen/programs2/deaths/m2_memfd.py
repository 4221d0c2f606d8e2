import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

role("main")
kept = []
for k in range(400):
    fd = os.memfd_create("buf"); os.ftruncate(fd, 8 << 20)
    m = mmap.mmap(fd, 8 << 20); m.write(os.urandom(8 << 20)); kept.append(m)
    log(k); time.sleep(0.1)
