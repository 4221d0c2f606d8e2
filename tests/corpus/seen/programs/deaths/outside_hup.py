"""Somebody outside sends SIGHUP."""
from job import *
role('main')
default(signal.SIGHUP)
warm()
train(25, 400, 0.1)
