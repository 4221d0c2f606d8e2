"""A loader worker dies of SIGBUS as shared memory is too small (small tmpfs)."""
from job import *

import ctypes, mmap
libc = ctypes.CDLL(None, use_errno=True)
assert libc.unshare(0x20000) == 0 and libc.mount(b"none", b"/", None, 0x44000, None) == 0
assert libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, b"size=2m") == 0
def load():
    with open("/dev/shm/torch_1_2_3", "wb+") as f:
        f.truncate(16 << 20)
        m = mmap.mmap(f.fileno(), 16 << 20)
        time.sleep(1.5)
        for i in range(0, 16 << 20, 4096):
            m[i] = 1
pid = fork("loader", load)
train(0, 5)
_, st = os.waitpid(pid, 0)
raise RuntimeError(f"DataLoader worker (pid {pid}) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. "
                   "Please try to raise your shared memory limit.")
