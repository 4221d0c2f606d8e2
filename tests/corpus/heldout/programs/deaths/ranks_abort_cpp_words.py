"""Rank 0 aborts with C++ words, the others lose their connection."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 0:
    print("terminate called after throwing an instance of 'std::runtime_error'\n  what():  cufile: GPUDirect Storage is not enabled", file=sys.stderr, flush=True)
    os.abort()
star.train(30, 300)
