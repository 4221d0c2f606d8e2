"""RLIMIT_FSIZE: Python gets an error as it ignores the signal."""
from job import *

resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
train(0, 10)
with open("ckpt.bin", "wb") as f:
    f.write(bytes(4 << 20))
