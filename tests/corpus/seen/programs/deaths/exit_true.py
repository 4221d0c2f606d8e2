"""Sys.exit(True) is status 1."""
from job import *

train(0, 5)
failed = True
print("2 of 14 evaluation suites failed: math, code", flush=True)
sys.exit(failed)
