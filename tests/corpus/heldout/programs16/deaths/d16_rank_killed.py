"""Three ranks; somebody sends SIGKILL to rank 1."""
from kitd16 import *

role("rank%d" % RANK)
ranks = Ranks()
for step in range(300):
    ranks.step(step)
