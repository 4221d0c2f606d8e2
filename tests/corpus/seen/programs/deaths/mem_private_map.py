"""A private mapping of a file is written to."""
from mem import *

import mmap
role("main")
with open("table", "wb") as f:
    f.truncate(900 * MIB)
f = open("table", "rb")
m = mmap.mmap(f.fileno(), 900 * MIB, access=mmap.ACCESS_COPY)
for i in range(0, 900 * MIB, 4096):
    m[i] = 7
    if i % (4 * MIB) == 0:
        time.sleep(0.04)
