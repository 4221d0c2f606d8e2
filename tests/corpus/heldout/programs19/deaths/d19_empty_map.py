"""A shard of the second epoch has no bytes, and cannot be mapped."""
from kitd19 import *

for k in range(6):
    with open("shard-%d" % k, "wb") as f:
        f.write(bytes(0 if k == 4 else 4096))
for k in range(6):
    with open("shard-%d" % k, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as tokens:
        told(8 + tokens[0], 8 * k)
