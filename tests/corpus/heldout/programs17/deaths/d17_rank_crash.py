"""Native code of rank 1 reads where nothing is; the others lose it."""
from kitd17 import *

ranks = Ranks()
for k in range(200):
    if (RANK, k) == (1, 25):
        fault()
    ranks.step(k)
