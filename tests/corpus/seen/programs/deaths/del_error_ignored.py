"""Errors in __del__ are ignored; the real end is another."""
from job import *

class H:
    def __del__(self):
        raise OSError("handle of gpu 0 was already closed")
h = H()
del h
train(0, 120, 0.004)
raise ValueError("num_samples should be a positive integer value, but got num_samples=0")
