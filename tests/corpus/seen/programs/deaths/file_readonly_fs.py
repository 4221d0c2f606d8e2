"""The output folder is on a read-only file system."""
from job import *

import ctypes
libc = ctypes.CDLL(None, use_errno=True)
os.mkdir("ro")
assert libc.unshare(0x20000) == 0 and libc.mount(b"none", b"/", None, 0x44000, None) == 0
assert libc.mount(b"tmpfs", b"ro", b"tmpfs", 1, None) == 0
train(0, 20)
open("ro/ckpt.pt", "wb")
