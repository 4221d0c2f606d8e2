"""A cleaner script runs /bin/kill -9."""
from job import *
role('main')
warm()
train(25, 400, 0.1)
