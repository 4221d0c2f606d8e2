"""The reason was added as a note."""
from job import *

train(0, 4)
try:
    int("twelve")
except ValueError as e:
    e.add_note("while reading num_layers of configs/base.yaml")
    raise
