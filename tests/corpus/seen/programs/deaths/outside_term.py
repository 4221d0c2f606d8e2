"""Somebody outside sends SIGTERM."""
from job import *
role('main')
default(signal.SIGTERM)
warm()
train(25, 400, 0.1)
