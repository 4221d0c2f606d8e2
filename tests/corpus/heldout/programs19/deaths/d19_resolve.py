"""Rank 2 has the name of a node that is no more, from which it would read the second part of its data."""
from kitd19 import *

ranks = Ranks()
for k in range(100):
    ranks.step(k)
    if (RANK, k) == (2, 25):
        socket.create_connection(("node-17.train.invalid", 9000))
