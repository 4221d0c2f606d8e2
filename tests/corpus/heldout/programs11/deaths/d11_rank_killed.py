"""Rank 2 of four is killed from outside; the others lose it."""
from kitd11 import *

Group(4).steps(300)
