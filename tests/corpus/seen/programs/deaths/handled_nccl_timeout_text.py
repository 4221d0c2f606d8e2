"""Last attempt's NCCL time-out is printed by the program as history."""
from job import *

print("previous attempt ended with: [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=88, OpType=ALLREDUCE, Timeout(ms)=600000)", flush=True)
train(0, 200, 0.003)
raise FileNotFoundError(2, "No such file or directory", "/ckpt/step_200.pt.tmp")
