"""A shared ring of batches is filled by a child."""
from mem import *

import mmap
role("main")
ring = mmap.mmap(-1, 900 * MIB)
def filler():
    for i in range(0, 900 * MIB, MIB):
        ring[i:i + MIB] = b"y" * MIB
        time.sleep(0.01)
    steady()
fork("filler", filler)
steady()
