"""SIGTERM from outside, a checkpoint and status 0: a good end."""
from job import *

role("main")
def save(*_):
    print("SIGTERM: checkpoint written, leaving", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
warm()
train(25, 400, 0.1)
