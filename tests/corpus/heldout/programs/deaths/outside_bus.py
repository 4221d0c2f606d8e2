"""Somebody outside sends SIGBUS: /dev/shm is not full."""
from job import *
role('main')
default(signal.SIGBUS)
warm()
train(25, 400, 0.1)
