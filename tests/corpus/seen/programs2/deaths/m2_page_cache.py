import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

role("main")
with open("big.bin", "wb") as f:
    for k in range(60):
        f.write(os.urandom(10 << 20)); log(k)
with open("big.bin", "rb") as f:
    while f.read(1 << 20):
        pass
os.unlink("big.bin")
