"""Rank 2 misses a file; the others print NCCL's words for a lost peer."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 2:
    open("/data/part-2/labels.npy", "rb")
try:
    star.train(30, 300)
except RuntimeError:
    print(f"node1:77{RANK}:9{RANK} [{RANK}] NCCL WARN socketProgress: Connection closed by remote peer node1<40112>", flush=True)
    raise RuntimeError("NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1970, remote process exited or there was a network error, NCCL version 2.20.5\n"
                       "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.") from None
