"""Connection resets, handled; then somebody outside kills it."""
from job import *

role("main")
for i in range(3):
    train(i * 20, i * 20 + 20, 0.003)
    print("WARNING tracker: ConnectionResetError: [Errno 104] Connection reset by peer, will try again in 30 s", file=sys.stderr, flush=True)
train(60, 3000, 0.1)
