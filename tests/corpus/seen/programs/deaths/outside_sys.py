"""Somebody outside sends SIGSYS: no seccomp is there."""
from job import *
role('main')
default(signal.SIGSYS)
warm()
train(25, 400, 0.1)
