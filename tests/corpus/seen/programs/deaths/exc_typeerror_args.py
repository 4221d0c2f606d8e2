"""An option of another version of a library."""
from job import *

class Optimizer:
    def __init__(self, params, lr):
        pass
Optimizer([], lr=0.1, fused=True)
