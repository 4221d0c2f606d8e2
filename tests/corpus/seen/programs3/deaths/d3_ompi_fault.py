import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

if sys.argv[1:] == ["rank"]:
    steps(8)
    if RANK == 1:
        fault()
    time.sleep(20)
ranks = launch(3, __file__, "ompi")
bad = first_bad(ranks)
say("--------------------------------------------------------------------------")
say(f"mpirun noticed that process rank {bad} with PID {ranks[bad].pid} on node gpu03 exited on signal 11 (Segmentation fault).")
say("--------------------------------------------------------------------------")
stop(ranks)
sys.exit(139)
