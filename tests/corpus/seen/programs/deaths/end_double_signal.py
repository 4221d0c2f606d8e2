"""It handles SIGTERM from outside with an error of its own in the handler."""
from job import *

role("main")
def save(*_):
    raise OSError(28, "No space left on device", "/ckpt/final.pt")
signal.signal(signal.SIGTERM, save)
warm()
train(25, 400, 0.1)
