"""A launcher starts three ranks. Rank 1 fails; the launcher ends the others by SIGTERM and tells the rank's status."""
from kitd14 import *

if "rank" in sys.argv:
    for k in range(200):
        if RANK == 0:
            told(1, k, 0)
        time.sleep(0.1)
        if (RANK, k) == (1, 70):
            raise RuntimeError("The size of tensor a (768) must match the size of tensor b (1024) at dimension 1")
else:
    ranks = launch(3, __file__, "env")
    bad = first_bad(ranks)
    code = ranks[bad].returncode
    say("launcher: rank %d (pid %d) ended with %d, terminating the others" % (bad, ranks[bad].pid, code))
    stop(ranks)
    say("launcher: training failed")
    sys.exit(code)
