"""Somebody ends the training by SIGINT, as Ctrl-C does; Python tells KeyboardInterrupt."""
from kitd21 import role, told

role("main")
told(600)
