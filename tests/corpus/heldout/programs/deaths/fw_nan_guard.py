"""A guard against NaN stops the run."""
from job import *
train(0, 40)
print('ValueError: The loss returned in training step 812 is nan.', file=sys.stderr, flush=True)
sys.exit(1)
