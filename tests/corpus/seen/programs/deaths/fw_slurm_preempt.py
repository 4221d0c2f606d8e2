"""Slurm takes the node for somebody else, the program saves and leaves."""
from job import *
train(0, 40)
print('slurmstepd: error: *** JOB 77 ON gpu07 CANCELLED AT 2026-01-05T10:00:00 DUE TO PREEMPTION ***\nsaved step_900.pt, leaving with 99', file=sys.stderr, flush=True)
sys.exit(99)
