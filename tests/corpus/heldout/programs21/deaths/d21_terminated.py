"""Somebody ends the training by SIGTERM."""
from kitd21 import role, told

role("main")
told(600)
