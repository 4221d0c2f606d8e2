"""A rank under the launcher aborts with a check of C++."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 1:
    print("terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error: an illegal memory access was encountered", file=sys.stderr, flush=True)
    os.abort()
star.train(30, 300)
