"""Somebody outside sends SIGABRT: it is no crash."""
from job import *
role('main')
default(signal.SIGABRT)
warm()
train(25, 400, 0.1)
