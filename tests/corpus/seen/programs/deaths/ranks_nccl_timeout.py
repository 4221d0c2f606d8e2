"""Rank 1 is late (a long evaluation), the watchdogs of the others give up."""
from job import *

role(f"rank{RANK}")
train(0, 20)
if RANK == 1:
    def long_evaluation():
        time.sleep(60)
    long_evaluation()
time.sleep(2)
print(f"[rank{RANK}]:[E105 10:00:00.1 ProcessGroupNCCL.cpp:616] [Rank {RANK}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=21, OpType=ALLREDUCE, "
      "NumelIn=1048576, NumelOut=1048576, Timeout(ms)=2000) ran for 2003 milliseconds before timing out.", file=sys.stderr, flush=True)
print(f"terminate called after throwing an instance of 'c10::DistBackendError'\n  what():  [PG ID 0 PG GUID 0 Rank {RANK}] Process group watchdog thread terminated with exception", file=sys.stderr, flush=True)
os.abort()
