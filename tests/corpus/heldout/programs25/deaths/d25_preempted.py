"""A queue's controller ends a training by SIGTERM, which had handled an interrupted download before."""
from kitd25 import role, steps

role("main")
steps(5)
try:
    raise InterruptedError("download of shard 3 was interrupted")
except InterruptedError as error:
    print("warning: %s; again" % error, flush=True)
steps(300, 5)
