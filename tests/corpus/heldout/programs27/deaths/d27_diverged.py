"""An upload failed at step 20, which was logged with its traceback and handled; at step 80 the trainer leaves, for its loss."""
import logging
import sys

from kitd27 import role, steps

role("main")
steps(20)
try:
    raise ConnectionResetError("upload of sample_20.png: connection reset by peer")
except OSError:
    logging.exception("upload failed, will be tried again")
steps(60, 20)
print("validation loss is 4 times the best one, giving up", file=sys.stderr, flush=True)
sys.exit(3)
