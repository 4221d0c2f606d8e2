"""Alarm() runs out."""
from job import *
role('main')
signal.alarm(3)
warm()
train(25, 200, 0.1)
