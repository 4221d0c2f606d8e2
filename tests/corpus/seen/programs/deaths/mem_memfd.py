"""A memfd that grows, mapped by its process."""
from mem import *

import mmap
role("main")
keep = []
for i in range(400):
    fd = os.memfd_create("cache")
    os.ftruncate(fd, 8 * MIB)
    m = mmap.mmap(fd, 8 * MIB)
    m.write(b"x" * (8 * MIB))
    keep.append((fd, m))
    time.sleep(0.08)
