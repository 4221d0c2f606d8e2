"""A limit for the size of files lets the first checkpoint fail."""
from kitd18 import *

resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
told(30)
with open("checkpoint.bin", "wb", buffering=0) as f:
    for _ in range(8):
        f.write(os.urandom(1 << 19))
told(30, 30)
