"""Multiprocessing.shared_memory blocks that nobody unlinks."""
from mem import *

from multiprocessing import shared_memory
role("main")
keep = []
for i in range(300):
    s = shared_memory.SharedMemory(create=True, size=8 * MIB, name=f"corpus-{os.getpid()}-{i}")
    s.buf[:] = b"z" * (8 * MIB)
    keep.append(s)
    time.sleep(0.08)
