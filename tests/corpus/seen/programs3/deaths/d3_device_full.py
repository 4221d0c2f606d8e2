import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

class OutOfMemoryError(RuntimeError): pass
OutOfMemoryError.__module__ = "torch.cuda"
srv = None
if RANK == 0:
    s = socket.socket(socket.AF_UNIX); s.bind("\0d3" + os.environ["MASTER_PORT"]); s.listen(1)
    c = s.accept()[0]
else:
    while True:
        try:
            c = socket.socket(socket.AF_UNIX); c.connect("\0d3" + os.environ["MASTER_PORT"]); break
        except OSError:
            time.sleep(0.05)
steps(15)
if RANK == 1:
    raise OutOfMemoryError("CUDA out of memory. Tried to allocate 2.50 GiB. GPU 1 has a total capacity of 79.15 GiB of which 1.31 GiB is free. Process 7123 has 77.83 GiB memory in use. Of the allocated memory 74.10 GiB is allocated by PyTorch, and 2.91 GiB is reserved by PyTorch but unallocated.")
if c.recv(1) == b"":
    class DistBackendError(RuntimeError): pass
    DistBackendError.__module__ = "torch.distributed"
    raise DistBackendError("NCCL error in: /pytorch/torch/csrc/distributed/c10d/NCCLUtils.hpp:275, remote process exited or there was a network error, NCCL version 2.21.5\nncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.")
