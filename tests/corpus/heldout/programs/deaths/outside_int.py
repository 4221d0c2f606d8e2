"""Somebody outside sends SIGINT; Python ends with KeyboardInterrupt."""
from job import *
role('main')
warm()
train(25, 400, 0.1)
