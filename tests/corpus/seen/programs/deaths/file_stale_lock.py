"""A lock file that was left behind."""
from job import *

open("cache.lock", "x").close()
train(0, 4)
open("cache.lock", "x")
