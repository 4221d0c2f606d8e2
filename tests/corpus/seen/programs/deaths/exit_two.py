"""Sys.exit(2) after an error line."""
from job import *

train(0, 5)
print("ERROR: no GPU with at least 40 GB was found", file=sys.stderr)
sys.exit(2)
