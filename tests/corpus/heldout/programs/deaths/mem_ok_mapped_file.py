"""It maps a file larger than its limit and only reads."""
from mem import *

import mmap
role("main")
with open("big", "wb") as f:
    for i in range(450):
        f.write(b"q" * MIB)
    f.flush()
    os.fsync(f.fileno())
f = open("big", "rb")
m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
for _ in range(3):
    sum(m[i] for i in range(0, len(m), 4096))
    time.sleep(0.3)
m.close()
os.unlink("big")
train(0, 10)
