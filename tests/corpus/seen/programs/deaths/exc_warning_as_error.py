"""Warnings are errors here."""
from job import *

import warnings
warnings.simplefilter("error")
train(0, 4)
warnings.warn("lr_scheduler.step() before optimizer.step()", UserWarning)
