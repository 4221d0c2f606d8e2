"""Dies in a given way.

crash.py exit STATUS | signal NUMBER | segv | abort | bus FILE | memory-error
bus: writes to a mapped file that its file system has no room for, as with a full /dev/shm.
"""
import ctypes
import mmap
import os
import resource
import signal
import sys

how, rest = sys.argv[1], sys.argv[2:]
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core files from tests
print("ready", flush=True)
if how == "exit":
    sys.exit(int(rest[0]))
if how == "signal":
    if int(rest[0]) not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(int(rest[0]), signal.SIG_DFL)  # whoever started the tests may have it ignored (nohup)
    os.kill(os.getpid(), int(rest[0]))
if how == "segv":
    ctypes.string_at(0)
if how == "abort":
    os.abort()
if how == "bus":
    size = 64 << 20
    with open(rest[0], "w+b") as f:
        f.truncate(size)
        m = mmap.mmap(f.fileno(), size)
        for page in range(0, size, mmap.PAGESIZE):
            m[page] = 1
if how == "memory-error":
    raise MemoryError("Unable to allocate 3.73 GiB for an array with shape (1000, 1000, 500) and data type float64")
