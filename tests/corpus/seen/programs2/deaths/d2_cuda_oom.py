import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

class OutOfMemoryError(RuntimeError):
    pass
OutOfMemoryError.__module__ = "torch"
steps(6)
raise OutOfMemoryError("CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.31 GiB is free. "
    "Including non-PyTorch memory, this process has 77.78 GiB memory in use. Of the allocated memory 75.98 GiB is allocated by PyTorch, "
    "and 1.04 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.")
