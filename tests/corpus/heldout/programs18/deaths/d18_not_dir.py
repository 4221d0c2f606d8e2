"""Rank 0 writes a checkpoint below a path at which a file is; the others lose it."""
from kitd18 import *

if RANK == 0:
    with open("out", "w") as f:
        f.write("log\n")
ranks = Ranks()
for k in range(100):
    ranks.step(k)
    if (RANK, k) == (0, 25):
        with open("out/checkpoint-25.json", "w") as f:
            json.dump({"step": k}, f)
