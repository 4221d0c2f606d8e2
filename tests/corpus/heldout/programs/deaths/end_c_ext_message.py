"""A library in C writes its error and calls exit(1)."""
from job import *

import ctypes
train(0, 40)
libc = ctypes.CDLL(None)
msg = b"libmkl: fatal: cannot load libmkl_avx512.so\n"
libc.write(2, msg, len(msg))
libc.exit(1)
