"""Steps, then status 9 and not one word."""
from job import *

train(0, 100, 0.005)
os._exit(9)
