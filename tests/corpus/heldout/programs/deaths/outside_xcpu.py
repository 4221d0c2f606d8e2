"""Somebody outside sends SIGXCPU: no CPU limit is set."""
from job import *
role('main')
default(signal.SIGXCPU)
warm()
train(25, 400, 0.1)
