import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

role("main")
with open("big.bin", "wb") as f:
    for k in range(50):
        f.write(os.urandom(10 << 20))
with open("big.bin", "rb") as f:
    m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
    for k in range(0, len(m), 4096):
        m[k]
    steps(20)
os.unlink("big.bin")
