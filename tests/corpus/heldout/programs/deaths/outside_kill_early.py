"""Killed right at the start."""
from job import *
role('main')
train(0, 400, 0.1)
