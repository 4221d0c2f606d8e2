"""Three ranks; rank 2 leaves by its own word, the others lose it in a sum."""
import os
import sys

import torch

from kitd26 import RANK, batches, ranks, say

dist = ranks()
for step, (x, _) in enumerate(batches(200, RANK, pause=0.1)):
    if RANK == 2 and step == 30:
        print("[rank 2] scratch quota of 50 GB is used up, giving up", file=sys.stderr, flush=True)
        os._exit(4)
    dist.all_reduce(x)
    if RANK == 0 and step % 5 == 0:
        say("step %d norm %.2f" % (step, x.norm().item()))
