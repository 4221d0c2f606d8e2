"""Three ranks; the shard of rank 1 is not there in the second epoch."""
from kitd16 import *


def shard(rank, epoch):
    if (rank, epoch) == (1, 1):
        with open("/data/c4/train-%05d-of-00003.bin" % rank, "rb") as f:
            return f.read()
    return b""


role("rank%d" % RANK)
ranks = Ranks()
for epoch in range(3):
    shard(RANK, epoch)
    for step in range(25):
        ranks.step(epoch * 25 + step)
