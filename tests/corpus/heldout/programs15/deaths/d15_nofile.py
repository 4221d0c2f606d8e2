"""A loader opens every shard and closes none; the limit of open files is 200."""
import resource

from kitd15 import *

role("main")
resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
kept = []
for k in range(400):
    with open("shard-%d.bin" % k, "wb") as f:
        f.write(bytes(64))
    kept.append(open("shard-%d.bin" % k, "rb"))
    told(1, k, 0.04)
