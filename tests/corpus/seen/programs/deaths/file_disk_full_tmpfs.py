"""The checkpoint fills a small file system."""
from job import *

import ctypes
libc = ctypes.CDLL(None, use_errno=True)
os.mkdir("ck")
assert libc.unshare(0x20000) == 0 and libc.mount(b"none", b"/", None, 0x44000, None) == 0
assert libc.mount(b"tmpfs", b"ck", b"tmpfs", 0, b"size=4m") == 0
for i in range(8):
    train(i * 10, i * 10 + 10, 0.005)
    with open(f"ck/step_{i}.pt", "wb") as f:
        f.write(bytes(1 << 20))
