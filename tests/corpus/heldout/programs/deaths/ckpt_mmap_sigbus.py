"""A mapped data file that somebody truncates: SIGBUS."""
from job import *

import mmap
with open("tokens.bin", "wb") as f:
    f.write(bytes(1 << 20))
f = open("tokens.bin", "r+b")
m = mmap.mmap(f.fileno(), 1 << 20)
warm()
f.truncate(4096)
print(sum(m[i] for i in range(0, 1 << 20, 4096)))
