"""Somebody outside sends SIGSEGV: it is no crash."""
from job import *
role('main')
default(signal.SIGSEGV)
warm()
train(25, 400, 0.1)
