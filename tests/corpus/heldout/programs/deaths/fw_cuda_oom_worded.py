"""A line says out of memory of a file format: it has nothing to do with memory."""
from job import *
train(0, 40)
print("error: table 'out_of_memory_events' has no column 'ts'", file=sys.stderr, flush=True)
sys.exit(1)
