"""An exception that says nothing but its name."""
from job import *

class QuotaReached(RuntimeError):
    pass
train(0, 8)
raise QuotaReached
