"""Usage error as click words it."""
from job import *

print("Usage: train [OPTIONS]\nTry 'train --help' for help.\n\nError: Invalid value for '--gpus': 9 is not in the range 0<=x<=8.", file=sys.stderr)
sys.exit(2)
