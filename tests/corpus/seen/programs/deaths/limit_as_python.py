"""RLIMIT_AS: Python gets MemoryError."""
from job import *

resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
train(0, 10)
keep = []
while True:
    keep.append(bytearray(16 << 20))
