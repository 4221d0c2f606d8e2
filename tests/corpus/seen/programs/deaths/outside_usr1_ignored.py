"""SIGUSR1 was handled as a warning; the job ends of another error later."""
from job import *

role("main")
signal.signal(signal.SIGUSR1, lambda *_: print("SIGUSR1: 5 minutes left", flush=True))
warm()
train(25, 60, 0.05)
raise ValueError("learning rate became negative: -1e-06")
