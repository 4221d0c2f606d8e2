"""Somebody outside sends SIGKILL."""
from job import *
role('main')
warm()
train(25, 400, 0.1)
