"""The validation set is empty after a filter; the mean of its losses has no divisor. Cleaning up tells its own words."""
from kitd16 import *


def evaluate(samples):
    losses = [0.1 * s for s in samples if s > 100]
    return sum(losses) / len(losses)


told(30)
try:
    evaluate(range(50))
finally:
    say("removing 2 temporary files")
    say("closed the writer")
