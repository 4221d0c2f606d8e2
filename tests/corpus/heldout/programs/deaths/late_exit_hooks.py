"""Hooks print a summary of the run after the error."""
from job import *

import atexit
@atexit.register
def summary():
    print("\nwandb: Run history:\nwandb: loss █▇▆▅▄▃▂▁\nwandb:\nwandb: Run summary:\nwandb: loss 0.61\nwandb: Synced 5 W&B file(s), 0 media file(s)", file=sys.stderr)
train(0, 20)
raise PermissionError(13, "Permission denied", "/mnt/models/out")
