"""Slurm says that the time is over and sends SIGTERM."""
from job import *

role("main")
train(0, 80)
print("slurmstepd: error: *** STEP 4321.0 ON gpu07 CANCELLED AT 2026-01-05T10:00:00 DUE TO TIME LIMIT ***", file=sys.stderr, flush=True)
role("told")
time.sleep(60)
