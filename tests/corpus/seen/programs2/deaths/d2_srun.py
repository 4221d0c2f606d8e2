import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

if sys.argv[1:] == ["rank"]:
    import json
    steps(6)
    if RANK == 1:
        json.loads("")
    time.sleep(20)
ranks = start_ranks(2, __file__, SLURM_JOB_ID="4711", SLURM_STEP_ID="0")
bad = first_failed(ranks)
say(f"srun: error: node01: task {bad}: Exited with exit code 1")
say("srun: Terminating StepId=4711.0")
say("slurmstepd: error: *** STEP 4711.0 ON node01 CANCELLED AT 2026-11-24T10:20:00 ***")
end_all(ranks)
say("srun: error: node01: task 0: Terminated")
sys.exit(1)
