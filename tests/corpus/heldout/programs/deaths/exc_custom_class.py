"""An exception of the program's own."""
from job import *

class LossDiverged(Exception):
    pass
train(0, 8)
raise LossDiverged("loss is nan for 3 steps in a row, last good step 1234")
