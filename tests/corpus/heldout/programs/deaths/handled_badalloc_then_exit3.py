"""A bad_alloc of a helper was handled; the job stops by choice."""
from job import *

print("helper: terminate called after throwing an instance of 'std::bad_alloc'", file=sys.stderr)
print("helper ended with -6, index is built in Python instead", flush=True)
train(0, 150, 0.003)
print("early stopping: validation loss did not improve for 5 epochs, leaving with status 3", flush=True)
sys.exit(3)
