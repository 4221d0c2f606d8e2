"""A scheduler warns with SIGUSR1, nobody handles it."""
from job import *
role('main')
default(signal.SIGUSR1)
warm()
train(25, 400, 0.1)
