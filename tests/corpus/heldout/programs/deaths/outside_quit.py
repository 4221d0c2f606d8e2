"""Somebody outside sends SIGQUIT."""
from job import *
role('main')
default(signal.SIGQUIT)
warm()
train(25, 400, 0.1)
