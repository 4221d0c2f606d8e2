"""Stopped, then killed from outside."""
from job import *

role("main")
warm()
train(25, 400, 0.1)
