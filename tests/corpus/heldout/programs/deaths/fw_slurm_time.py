"""Slurm says that the time is over, then SIGTERM of itself."""
from job import *
train(0, 40)
print('slurmstepd: error: *** STEP 4321.0 ON gpu07 CANCELLED AT 2026-01-05T10:00:00 DUE TO TIME LIMIT ***', file=sys.stderr, flush=True)
time.sleep(2)
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(5)
