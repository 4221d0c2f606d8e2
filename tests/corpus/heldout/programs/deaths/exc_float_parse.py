"""A column that is no number."""
from job import *

rows = ["0.1", "0.2", "N/A"]
train(0, 3)
values = [float(r) for r in rows]
