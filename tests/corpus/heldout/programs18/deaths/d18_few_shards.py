"""In the second epoch there are fewer shards than ranks, and rank 2 has none; the others lose it."""
from kitd18 import *

ranks = Ranks()
for epoch, shards in enumerate([["a", "b", "c"], ["a", "b"]]):
    mine = shards[RANK::3]
    if not mine:
        raise SystemExit("epoch %d: no shard is left for rank %d, there are %d for 3 ranks" % (epoch, RANK, len(shards)))
    for k in range(25):
        ranks.step(25 * epoch + k)
