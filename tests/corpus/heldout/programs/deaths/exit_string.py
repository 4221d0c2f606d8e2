"""Sys.exit with a text."""
from job import *

train(0, 5)
sys.exit("config error: num_heads 12 does not divide width 500")
