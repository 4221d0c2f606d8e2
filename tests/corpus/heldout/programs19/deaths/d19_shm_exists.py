"""Each rank would make the memory that all share: rank 1 is later than rank 0 and finds it made."""
from multiprocessing import shared_memory

from kitd19 import *

ranks = Ranks()
for k in range(100):
    ranks.step(k)
    if k == 25:
        time.sleep(0.6 * RANK)
        cache = shared_memory.SharedMemory("d19-cache-" + os.environ["MASTER_PORT"], True, 1 << 20)
        time.sleep(0.6 * (1 - RANK))
