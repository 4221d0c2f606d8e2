"""Another run holds the lock of the output folder."""
from job import *

print("output folder runs/7 is locked by run 6f2c on node3, leaving", flush=True)
sys.exit(11)
