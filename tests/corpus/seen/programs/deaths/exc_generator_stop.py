"""StopIteration inside a generator."""
from job import *

def batches(it):
    while True:
        yield next(it)
train(0, 4)
for b in batches(iter([1, 2])):
    pass
