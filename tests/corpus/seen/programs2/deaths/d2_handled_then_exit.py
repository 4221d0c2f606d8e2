import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(10)
try:
    socket.create_connection(("127.0.0.1", 9), timeout=1)
except OSError:
    traceback.print_exc()
    say("could not reach the tracking server, will go on offline")
steps(60, begin=10)
sys.exit("early stopping: no improvement in 5 evaluations (patience exhausted)")
