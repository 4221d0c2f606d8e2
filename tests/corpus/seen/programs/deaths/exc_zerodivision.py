"""The mean over an empty validation set."""
from job import *

train(0, 10)
losses = []
print("validation", sum(losses) / len(losses))
