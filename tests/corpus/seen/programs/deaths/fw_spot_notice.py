"""The cloud takes the machine back."""
from job import *
train(0, 40)
print('spot interruption notice: instance i-0abc will be terminated at 2026-01-05T10:02:00Z\ncheckpoint uploaded, leaving', file=sys.stderr, flush=True)
sys.exit(85)
