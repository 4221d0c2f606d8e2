"""Somebody presses Ctrl-C, or sends the same."""
from kitd27 import role, steps

role("main")
steps(400)
