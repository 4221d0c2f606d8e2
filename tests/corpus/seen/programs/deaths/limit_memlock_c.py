"""RLIMIT_MEMLOCK: pinned memory is refused."""
from job import *

import ctypes
resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
os.setuid(65534)
train(0, 10)
libc = ctypes.CDLL(None, use_errno=True)
buf = ctypes.create_string_buffer(8 << 20)
if libc.mlock(buf, len(buf)):
    e = ctypes.get_errno()
    raise RuntimeError(f"ibv_reg_mr of 8388608 bytes failed: {os.strerror(e)} (errno {e}), see ulimit -l")
