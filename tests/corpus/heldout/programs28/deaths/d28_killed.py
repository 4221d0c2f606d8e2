"""Somebody kills the training with SIGKILL from outside."""
from kitd28 import role, steps

role("main")
steps(600)
