"""A configuration tool prints its own kind of error without a traceback."""
from job import *

print("Could not override 'optim.lrr'.\nKey 'lrr' is not in struct\n    full_key: optim.lrr\n    object_type=dict\n\nSet the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.", file=sys.stderr, flush=True)
sys.exit(1)
