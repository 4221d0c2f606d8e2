"""A group that is the cause of another error."""
from job import *

train(0, 4)
try:
    raise ExceptionGroup("workers", [ValueError("label 1001 out of range [0, 1000)"), KeyError("image")])
except ExceptionGroup as g:
    raise RuntimeError("data pipeline stopped") from g
