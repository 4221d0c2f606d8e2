"""The loss of rank 2 is not a number, and it leaves; the others lose it."""
from kitd17 import *

ranks = Ranks()
for k in range(200):
    loss = float("nan") if (RANK, k) == (2, 25) else 1 / (k + 1)
    if math.isnan(loss):
        raise FloatingPointError("loss is nan at step %d, batch 3 of rank %d" % (k, RANK))
    ranks.step(k)
