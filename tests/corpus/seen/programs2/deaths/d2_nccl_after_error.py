import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(6)
if RANK == 1:
    try:
        {}["pixel_values"]
    except KeyError:
        traceback.print_exc()
    time.sleep(4)
    sys.exit(1)
time.sleep(2.5)
say("[rank0]:[E1124 10:11:12.345678 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for 600029 milliseconds before timing out.")
say("[rank0]:[E1124 10:11:12.445678 ProcessGroupNCCL.cpp:681] [Rank 0] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.")
say("terminate called after throwing an instance of 'c10::DistBackendError'\n  what():  [PG ID 0 PG GUID 0 Rank 0] Process group watchdog thread terminated with exception")
os.abort()
