"""Rank 1 may have no more address space and asks for a large table; two others lose it."""
from kitd11 import *

g = Group(3)
if RANK == 1:
    used = int(open("/proc/self/statm").read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), used + (64 << 20)))
for s in range(100):
    g.steps(1, s)
    if RANK == 1 and s == 11:
        table = bytearray(512 << 20)
