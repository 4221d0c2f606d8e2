import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(5)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
with open("ckpt.bin", "wb", buffering=0) as f:
    f.write(b"x" * 4096)
    f.write(b"x" * 4096)
