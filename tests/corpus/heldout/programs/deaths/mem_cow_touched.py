"""A forked child writes to its copy of the parent's memory, page by page."""
from mem import *

role("main")
index = block(250)
def writer():
    for i in range(0, len(index), 4096):
        index[i] ^= 255
        if i % (4 * MIB) == 0:
            time.sleep(0.05)
    steady()
fork("writer", writer)
steady()
