"""The watchdog of NCCL gives up."""
from job import *
train(0, 40)
print("[rank0]:[E ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1234, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600042 milliseconds before timing out.\nterminate called after throwing an instance of 'c10::DistBackendError'", file=sys.stderr, flush=True)
os.abort()
