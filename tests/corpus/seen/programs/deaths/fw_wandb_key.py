"""No key for the tracker."""
from job import *
train(0, 40)
print('wandb: ERROR api_key not configured (no-tty). call wandb.login(key=[your_api_key])', file=sys.stderr, flush=True)
sys.exit(1)
