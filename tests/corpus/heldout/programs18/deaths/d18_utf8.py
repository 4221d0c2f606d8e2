"""The shard of rank 1 has a line in another encoding; the others lose it."""
from kitd18 import *

ranks = Ranks()
path = "shard-%d.txt" % RANK
with open(path, "wb") as f:
    for k in range(100):
        f.write(b"caf\xe9\n" if (RANK, k) == (1, 30) else b"coffee\n")
with open(path, "rb") as f:
    for k, line in enumerate(f):
        line.decode("utf-8")
        ranks.step(k)
