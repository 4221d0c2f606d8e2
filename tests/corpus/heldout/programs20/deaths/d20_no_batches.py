"""The part that is held back for validation is smaller than one batch, and incomplete batches are dropped."""
from kitd20 import *


def batches(rows, size):
    return [rows[k:k + size] for k in range(0, len(rows) - size + 1, size)]


def validate(rows):
    losses = [sum(part) / len(part) for part in batches(rows, 32)]
    return sum(losses) / len(losses)


told(40)
say("validation begins")
print("validation loss %.3f" % validate([0.4] * 20))
