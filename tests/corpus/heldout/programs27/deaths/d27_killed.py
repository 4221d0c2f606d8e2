"""Somebody ends it with SIGKILL."""
from kitd27 import role, steps

role("main")
steps(400)
