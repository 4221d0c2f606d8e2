"""The reason is on stdout, stderr has only harmless warnings after it."""
from job import *

train(0, 20)
print("ERROR: checkpoint is of world size 8, this job has 4", flush=True)
for i in range(5):
    print("UserWarning: TypedStorage is deprecated", file=sys.stderr, flush=True)
sys.exit(1)
