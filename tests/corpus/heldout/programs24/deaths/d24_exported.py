"""A buffer of samples is made larger while a view of it is in use."""
from kitd24 import steps

buffer = bytearray(64)
batches = []
for k in range(10):
    steps(4, 4 * k)
    if k == 5:
        batches.append(memoryview(buffer)[:16])
    buffer += bytes(64)
