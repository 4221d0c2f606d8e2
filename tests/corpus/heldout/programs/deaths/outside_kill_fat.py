"""Killed while it held a lot of memory: it is not for want of memory."""
from job import *
role('main')
keep = bytearray(400 << 20)
for i in range(0, len(keep), 4096):
    keep[i] = 1
warm()
train(25, 400, 0.1)
