"""Takes another name, with a bracket, a blank and a newline in it to confuse readers of stat files, then takes memory.

renamer.py MIB RATE
"""
import ctypes
import mmap
import sys
import time

PR_SET_NAME = 15
ctypes.CDLL(None).prctl(PR_SET_NAME, b"a) R 1 (\nb", 0, 0, 0)
print("ready", flush=True)
blocks, start = [], time.monotonic()
while len(blocks) < int(sys.argv[1]):
    blocks.append(mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    for page in range(0, 1 << 20, mmap.PAGESIZE):
        blocks[-1][page] = 1
    time.sleep(max(0, len(blocks) / float(sys.argv[2]) - (time.monotonic() - start)))
