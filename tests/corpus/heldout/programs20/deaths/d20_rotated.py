"""Rank 0 keeps the last two checkpoints only. Rank 1 has read the name of an older one and loads it behind a pause."""
from kitd20 import *

ranks = Ranks()
latest = None
for k in range(100):
    ranks.step(k)
    if RANK == 0 and k % 5 == 0:
        with open("step%d.pt" % k, "w") as f:
            f.write("weights")
        old = "step%d.pt" % (k - 10)
        if os.path.exists(old):
            os.unlink(old)
    if RANK == 1 and k == 12:
        latest = "step10.pt"
    if RANK == 1 and k == 27:
        with open(latest) as f:
            f.read()
