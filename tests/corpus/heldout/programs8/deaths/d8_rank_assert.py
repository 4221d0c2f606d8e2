from kitd8 import *
g = Group(3)
g.steps(10)
try:
    assert RANK != 1, "rank 1: gradient norm 7341.2 above the limit 1000"
    g.steps(1000)
except (EOFError, OSError) as error:
    time.sleep(0.3)
    sys.exit("rank %d: lost a peer in step: %r" % (RANK, error))
