"""Status 137 by choice, no signal came."""
from job import *

warm()
print("child 'packer' was lost, leaving with its status", flush=True)
sys.exit(137)
