"""The error of the clean-up hides the error of the training."""
from job import *

train(0, 6)
def save(path):
    raise ValueError("save() got an unknown format 'pt2'")
try:
    raise RuntimeError("loss is nan at step 6")
except RuntimeError:
    save("last")
