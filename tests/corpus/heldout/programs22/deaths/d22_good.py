"""Connections that are reset and a spike of the loss are told and overcome; the training ends well."""
import sys

from kitd22 import told

told(10)
for k in range(2):
    print("warning: ConnectionResetError: [Errno 104] Connection reset by peer, try %d of 5" % (k + 1), file=sys.stderr, flush=True)
told(10, 10)
print("ERROR loss spike at step 19 (nan), going back to step 15", file=sys.stderr, flush=True)
told(15, 15)
print("training complete: 30 steps", flush=True)
