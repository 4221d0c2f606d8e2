import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

import faulthandler
steps(20)
if RANK == 1:
    time.sleep(60)
time.sleep(1)
say("[rank0]:[E ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=20, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=1000) ran for 1012 milliseconds before timing out.")
say("[rank0]:[E ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0(default_pg) Rank 0] Exception (either an error or timeout) detected by watchdog at work: 20, last enqueued NCCL work: 20, last completed NCCL work: 19.")
say("[rank0]:[E ProcessGroupNCCL.cpp:630] [Rank 0] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.")
say("[rank0]:[E ProcessGroupNCCL.cpp:636] [Rank 0] To avoid data inconsistency, we are taking the entire process down.")
say("terminate called after throwing an instance of 'c10::DistBackendError'")
say("  what():  [PG ID 0 PG GUID 0(default_pg) Rank 0] Process group watchdog thread terminated with exception: [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=20, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=1000) ran for 1012 milliseconds before timing out.")
os.abort()
