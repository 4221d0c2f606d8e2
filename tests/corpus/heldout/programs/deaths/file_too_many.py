"""Descriptors leak until there are none left."""
from job import *

resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
keep = []
for i in range(100):
    train(i, i + 1, 0.005)
    keep.append(open("/etc/hostname"))
