"""Somebody outside sends SIGPIPE."""
from job import *
role('main')
default(signal.SIGPIPE)
warm()
train(25, 400, 0.1)
