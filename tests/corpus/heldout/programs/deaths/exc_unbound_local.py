"""An accumulator that no batch has set."""
from job import *

def epoch(batches):
    for b in batches:
        total = b
    return total
train(0, 4)
epoch([])
