"""Connection resets of the tracker, handled, then another error."""
from job import *

for i in range(5):
    train(i * 20, i * 20 + 20, 0.003)
    print("WARNING tracker: ConnectionResetError: [Errno 104] Connection reset by peer, will try again in 30 s", file=sys.stderr, flush=True)
train(100, 160, 0.003)
raise ValueError("optimizer got an empty parameter list")
