"""A wrong option of a trainer."""
from job import *
MisconfigurationExceptionClass = type('MisconfigurationException', (RuntimeError,), {'__module__': 'lightning.fabric.utilities.exceptions'})
train(0, 40)
raise MisconfigurationExceptionClass('`Trainer(devices=8)` was configured but only 4 GPUs are visible')
