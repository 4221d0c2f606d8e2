"""The program saves at SIGTERM from outside and leaves with 143."""
from job import *

role("main")
def save(*_):
    print("SIGTERM: saving checkpoint step_41.pt", flush=True)
    print("saved, leaving", flush=True)
    sys.exit(143)
signal.signal(signal.SIGTERM, save)
warm()
train(25, 1000, 0.1)
