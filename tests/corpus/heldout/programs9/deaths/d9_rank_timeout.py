from kitd9 import *

g = Group(3)
g.steps(10)
if RANK == 1:
    say("rank 1: cannot read /data/shard-0041.tar: Input/output error")
    os._exit(5)
try:
    g.steps(600, 10)
except Exception:
    time.sleep(1)
    raise RuntimeError("[Rank %d] collective operation timeout: ALLREDUCE ran for 1000 ms before timing out" % RANK)
