import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

if sys.argv[1:] == ["rank"]:
    steps(8)
    if RANK == 1:
        say("ERROR: cannot open mesh/wing_v7.cgns: unexpected end of file")
        sys.exit(2)
    time.sleep(20)
ranks = launch(2, __file__, "slurm")
bad = first_bad(ranks)
say(f"srun: error: gpu03: task {bad}: Exited with exit code 2")
say("srun: launch/slurm: _step_signal: Terminating StepId=90211.0")
say("slurmstepd: error: *** STEP 90211.0 ON gpu03 CANCELLED AT 2026-11-20T02:11:09 ***")
stop(ranks)
say("srun: error: gpu03: task 0: Terminated")
sys.exit(2)
